/**
 * The regions of ISO 3166 with the currency that their shops take (CLDR 48, as of November 2026) and their time zones (IANA,
 * and the former names that browsers go on saying): `DE EUR Europe/Berlin Europe/Busingen`. A region that has no currency of
 * its own has that of whoever keeps it supplied.
 */
const TABLE = `
AD EUR Europe/Andorra
AE AED Asia/Dubai
AF AFN Asia/Kabul
AG XCD America/Antigua
AI XCD America/Anguilla
AL ALL Europe/Tirane
AM AMD Asia/Yerevan
AO AOA Africa/Luanda
AQ USD Antarctica/McMurdo Antarctica/Casey Antarctica/Davis Antarctica/DumontDUrville Antarctica/Mawson Antarctica/Palmer Antarctica/Rothera Antarctica/Syowa Antarctica/Troll Antarctica/Vostok
AR ARS America/Argentina/Buenos_Aires America/Argentina/Cordoba America/Argentina/Salta America/Argentina/Jujuy America/Argentina/Tucuman America/Argentina/Catamarca America/Argentina/La_Rioja America/Argentina/San_Juan America/Argentina/Mendoza America/Argentina/San_Luis America/Argentina/Rio_Gallegos America/Argentina/Ushuaia America/Buenos_Aires America/Cordoba America/Jujuy America/Catamarca America/Mendoza
AS USD Pacific/Pago_Pago
AT EUR Europe/Vienna
AU AUD Australia/Lord_Howe Antarctica/Macquarie Australia/Hobart Australia/Melbourne Australia/Sydney Australia/Broken_Hill Australia/Brisbane Australia/Lindeman Australia/Adelaide Australia/Darwin Australia/Perth Australia/Eucla
AW AWG America/Aruba
AX EUR Europe/Mariehamn
AZ AZN Asia/Baku
BA BAM Europe/Sarajevo
BB BBD America/Barbados
BD BDT Asia/Dhaka
BE EUR Europe/Brussels
BF XOF Africa/Ouagadougou
BG EUR Europe/Sofia
BH BHD Asia/Bahrain
BI BIF Africa/Bujumbura
BJ XOF Africa/Porto-Novo
BL EUR America/St_Barthelemy
BM BMD Atlantic/Bermuda
BN BND Asia/Brunei
BO BOB America/La_Paz
BQ USD America/Kralendijk
BR BRL America/Noronha America/Belem America/Fortaleza America/Recife America/Araguaina America/Maceio America/Bahia America/Sao_Paulo America/Campo_Grande America/Cuiaba America/Santarem America/Porto_Velho America/Boa_Vista America/Manaus America/Eirunepe America/Rio_Branco
BS BSD America/Nassau
BT BTN Asia/Thimphu
BV NOK
BW BWP Africa/Gaborone
BY BYN Europe/Minsk
BZ BZD America/Belize
CA CAD America/St_Johns America/Halifax America/Glace_Bay America/Moncton America/Goose_Bay America/Blanc-Sablon America/Toronto America/Iqaluit America/Atikokan America/Winnipeg America/Resolute America/Rankin_Inlet America/Regina America/Swift_Current America/Edmonton America/Cambridge_Bay America/Inuvik America/Creston America/Dawson_Creek America/Fort_Nelson America/Whitehorse America/Dawson America/Vancouver America/Coral_Harbour
CC AUD Indian/Cocos
CD CDF Africa/Kinshasa Africa/Lubumbashi
CF XAF Africa/Bangui
CG XAF Africa/Brazzaville
CH CHF Europe/Zurich
CI XOF Africa/Abidjan
CK NZD Pacific/Rarotonga
CL CLP America/Santiago America/Coyhaique America/Punta_Arenas Pacific/Easter
CM XAF Africa/Douala
CN CNY Asia/Shanghai Asia/Urumqi
CO COP America/Bogota
CR CRC America/Costa_Rica
CU CUP America/Havana
CV CVE Atlantic/Cape_Verde
CW XCG America/Curacao
CX AUD Indian/Christmas
CY EUR Asia/Nicosia Asia/Famagusta
CZ CZK Europe/Prague
DE EUR Europe/Berlin Europe/Busingen
DJ DJF Africa/Djibouti
DK DKK Europe/Copenhagen
DM XCD America/Dominica
DO DOP America/Santo_Domingo
DZ DZD Africa/Algiers
EC USD America/Guayaquil Pacific/Galapagos
EE EUR Europe/Tallinn
EG EGP Africa/Cairo
EH MAD Africa/El_Aaiun
ER ERN Africa/Asmara Africa/Asmera
ES EUR Europe/Madrid Africa/Ceuta Atlantic/Canary
ET ETB Africa/Addis_Ababa
FI EUR Europe/Helsinki
FJ FJD Pacific/Fiji
FK FKP Atlantic/Stanley
FM USD Pacific/Chuuk Pacific/Pohnpei Pacific/Kosrae Pacific/Truk Pacific/Ponape
FO DKK Atlantic/Faroe Atlantic/Faeroe
FR EUR Europe/Paris
GA XAF Africa/Libreville
GB GBP Europe/London
GD XCD America/Grenada
GE GEL Asia/Tbilisi
GF EUR America/Cayenne
GG GBP Europe/Guernsey
GH GHS Africa/Accra
GI GIP Europe/Gibraltar
GL DKK America/Nuuk America/Danmarkshavn America/Scoresbysund America/Thule America/Godthab
GM GMD Africa/Banjul
GN GNF Africa/Conakry
GP EUR America/Guadeloupe
GQ XAF Africa/Malabo
GR EUR Europe/Athens
GS GBP Atlantic/South_Georgia
GT GTQ America/Guatemala
GU USD Pacific/Guam
GW XOF Africa/Bissau
GY GYD America/Guyana
HK HKD Asia/Hong_Kong
HM AUD
HN HNL America/Tegucigalpa
HR EUR Europe/Zagreb
HT HTG America/Port-au-Prince
HU HUF Europe/Budapest
ID IDR Asia/Jakarta Asia/Pontianak Asia/Makassar Asia/Jayapura
IE EUR Europe/Dublin
IL ILS Asia/Jerusalem
IM GBP Europe/Isle_of_Man
IN INR Asia/Kolkata Asia/Calcutta
IO USD Indian/Chagos
IQ IQD Asia/Baghdad
IR IRR Asia/Tehran
IS ISK Atlantic/Reykjavik
IT EUR Europe/Rome
JE GBP Europe/Jersey
JM JMD America/Jamaica
JO JOD Asia/Amman
JP JPY Asia/Tokyo
KE KES Africa/Nairobi
KG KGS Asia/Bishkek
KH KHR Asia/Phnom_Penh
KI AUD Pacific/Tarawa Pacific/Kanton Pacific/Kiritimati Pacific/Enderbury
KM KMF Indian/Comoro
KN XCD America/St_Kitts
KP KPW Asia/Pyongyang
KR KRW Asia/Seoul
KW KWD Asia/Kuwait
KY KYD America/Cayman
KZ KZT Asia/Almaty Asia/Qyzylorda Asia/Qostanay Asia/Aqtobe Asia/Aqtau Asia/Atyrau Asia/Oral
LA LAK Asia/Vientiane
LB LBP Asia/Beirut
LC XCD America/St_Lucia
LI CHF Europe/Vaduz
LK LKR Asia/Colombo
LR LRD Africa/Monrovia
LS LSL Africa/Maseru
LT EUR Europe/Vilnius
LU EUR Europe/Luxembourg
LV EUR Europe/Riga
LY LYD Africa/Tripoli
MA MAD Africa/Casablanca
MC EUR Europe/Monaco
MD MDL Europe/Chisinau
ME EUR Europe/Podgorica
MF EUR America/Marigot
MG MGA Indian/Antananarivo
MH USD Pacific/Majuro Pacific/Kwajalein
MK MKD Europe/Skopje
ML XOF Africa/Bamako
MM MMK Asia/Yangon Asia/Rangoon
MN MNT Asia/Ulaanbaatar Asia/Hovd
MO MOP Asia/Macau
MP USD Pacific/Saipan
MQ EUR America/Martinique
MR MRU Africa/Nouakchott
MS XCD America/Montserrat
MT EUR Europe/Malta
MU MUR Indian/Mauritius
MV MVR Indian/Maldives
MW MWK Africa/Blantyre
MX MXN America/Mexico_City America/Cancun America/Merida America/Monterrey America/Matamoros America/Chihuahua America/Ciudad_Juarez America/Ojinaga America/Mazatlan America/Bahia_Banderas America/Hermosillo America/Tijuana
MY MYR Asia/Kuala_Lumpur Asia/Kuching
MZ MZN Africa/Maputo
NA NAD Africa/Windhoek
NC XPF Pacific/Noumea
NE XOF Africa/Niamey
NF AUD Pacific/Norfolk
NG NGN Africa/Lagos
NI NIO America/Managua
NL EUR Europe/Amsterdam
NO NOK Europe/Oslo
NP NPR Asia/Kathmandu Asia/Katmandu
NR AUD Pacific/Nauru
NU NZD Pacific/Niue
NZ NZD Pacific/Auckland Pacific/Chatham
OM OMR Asia/Muscat
PA PAB America/Panama
PE PEN America/Lima
PF XPF Pacific/Tahiti Pacific/Marquesas Pacific/Gambier
PG PGK Pacific/Port_Moresby Pacific/Bougainville
PH PHP Asia/Manila
PK PKR Asia/Karachi
PL PLN Europe/Warsaw
PM EUR America/Miquelon
PN NZD Pacific/Pitcairn
PR USD America/Puerto_Rico
PS ILS Asia/Gaza Asia/Hebron
PT EUR Europe/Lisbon Atlantic/Madeira Atlantic/Azores
PW USD Pacific/Palau
PY PYG America/Asuncion
QA QAR Asia/Qatar
RE EUR Indian/Reunion
RO RON Europe/Bucharest
RS RSD Europe/Belgrade
RU RUB Europe/Kaliningrad Europe/Moscow Europe/Kirov Europe/Volgograd Europe/Astrakhan Europe/Saratov Europe/Ulyanovsk Europe/Samara Asia/Yekaterinburg Asia/Omsk Asia/Novosibirsk Asia/Barnaul Asia/Tomsk Asia/Novokuznetsk Asia/Krasnoyarsk Asia/Irkutsk Asia/Chita Asia/Yakutsk Asia/Khandyga Asia/Vladivostok Asia/Ust-Nera Asia/Magadan Asia/Sakhalin Asia/Srednekolymsk Asia/Kamchatka Asia/Anadyr
RW RWF Africa/Kigali
SA SAR Asia/Riyadh
SB SBD Pacific/Guadalcanal
SC SCR Indian/Mahe
SD SDG Africa/Khartoum
SE SEK Europe/Stockholm
SG SGD Asia/Singapore
SH SHP Atlantic/St_Helena
SI EUR Europe/Ljubljana
SJ NOK Arctic/Longyearbyen
SK EUR Europe/Bratislava
SL SLE Africa/Freetown
SM EUR Europe/San_Marino
SN XOF Africa/Dakar
SO SOS Africa/Mogadishu
SR SRD America/Paramaribo
SS SSP Africa/Juba
ST STN Africa/Sao_Tome
SV USD America/El_Salvador
SX XCG America/Lower_Princes
SY SYP Asia/Damascus
SZ SZL Africa/Mbabane
TC USD America/Grand_Turk
TD XAF Africa/Ndjamena
TF EUR Indian/Kerguelen
TG XOF Africa/Lome
TH THB Asia/Bangkok
TJ TJS Asia/Dushanbe
TK NZD Pacific/Fakaofo
TL USD Asia/Dili
TM TMT Asia/Ashgabat
TN TND Africa/Tunis
TO TOP Pacific/Tongatapu
TR TRY Europe/Istanbul
TT TTD America/Port_of_Spain
TV AUD Pacific/Funafuti
TW TWD Asia/Taipei
TZ TZS Africa/Dar_es_Salaam
UA UAH Europe/Simferopol Europe/Kyiv Europe/Kiev
UG UGX Africa/Kampala
UM USD Pacific/Midway Pacific/Wake
US USD America/New_York America/Detroit America/Kentucky/Louisville America/Kentucky/Monticello America/Indiana/Indianapolis America/Indiana/Vincennes America/Indiana/Winamac America/Indiana/Marengo America/Indiana/Petersburg America/Indiana/Vevay America/Chicago America/Indiana/Tell_City America/Indiana/Knox America/Menominee America/North_Dakota/Center America/North_Dakota/New_Salem America/North_Dakota/Beulah America/Denver America/Boise America/Phoenix America/Los_Angeles America/Anchorage America/Juneau America/Sitka America/Metlakatla America/Yakutat America/Nome America/Adak Pacific/Honolulu America/Louisville America/Indianapolis
UY UYU America/Montevideo
UZ UZS Asia/Samarkand Asia/Tashkent
VA EUR Europe/Vatican
VC XCD America/St_Vincent
VE VES America/Caracas
VG USD America/Tortola
VI USD America/St_Thomas
VN VND Asia/Ho_Chi_Minh Asia/Saigon
VU VUV Pacific/Efate
WF XPF Pacific/Wallis
WS WST Pacific/Apia
YE YER Asia/Aden
YT EUR Indian/Mayotte
ZA ZAR Africa/Johannesburg
ZM ZMW Africa/Lusaka
ZW USD Africa/Harare
`

/** A part of the world that has a code of two letters. */
export interface Region {
  code: string
  /** ISO 4217. */
  currency: string
  zones: readonly string[]
}

export const REGIONS: readonly Region[] = TABLE.trim()
  .split('\n')
  .map((line) => {
    const [code = '', currency = '', ...zones] = line.split(' ')
    return { code, currency, zones }
  })

/** What people pay with somewhere, each once. */
export const CURRENCIES: readonly string[] = [...new Set(REGIONS.map(({ currency }) => currency))].sort()

export const regionOf = (code: string | undefined): Region | undefined => REGIONS.find((region) => region.code === code)

/** The region in which clocks go by `zone`; none of UTC. */
export const regionIn = (zone: string): Region | undefined => REGIONS.find(({ zones }) => zones.includes(zone))
