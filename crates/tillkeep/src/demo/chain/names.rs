//! The names of invented people.

const FIRST: [&str; 20] = [
    "Ada", "Ben", "Clara", "Dmitri", "Elena", "Farid", "Grace", "Hugo", "Ines", "Jonas", "Keiko", "Liam", "Maya",
    "Nils", "Olga", "Pedro", "Quinn", "Rosa", "Samir", "Tara",
];
const LAST: [&str; 20] = [
    "Albrook",
    "Bellweather",
    "Corrigan",
    "Dunmore",
    "Eastlake",
    "Fenwick",
    "Garland",
    "Hollis",
    "Ivers",
    "Jessup",
    "Kestrel",
    "Lowell",
    "Marchetti",
    "Norwood",
    "Ostrander",
    "Pemberton",
    "Quimby",
    "Ravenel",
    "Sandoval",
    "Thorne",
];

/// First and last name of the `number`th person; the first 400 people have different ones.
pub fn full_name(number: usize) -> (&'static str, &'static str) {
    (FIRST[number % FIRST.len()], LAST[(number + number / FIRST.len()) % LAST.len()])
}
