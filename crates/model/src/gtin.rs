//! Numbers of goods: EAN, UPC and the like end with a digit that tells a misread from the number.

/// Whether the last digit of `digits` is the one that the others make: weights 3 and 1 from the right.
#[must_use]
pub fn check_digit_fits(digits: &str) -> bool {
    let digits: Vec<u32> = digits.chars().rev().filter_map(|digit| digit.to_digit(10)).collect();
    let weighed = digits.iter().enumerate().map(|(place, digit)| if place % 2 == 1 { digit * 3 } else { *digit });
    weighed.sum::<u32>().is_multiple_of(10)
}

/// Whether `code` is as long as such a number, all digits, and ends with another one than the others make.
#[must_use]
pub fn is_misread(code: &str) -> bool {
    matches!(code.len(), 8 | 12..=14) && code.bytes().all(|byte| byte.is_ascii_digit()) && !check_digit_fits(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_goods_is_told_from_its_misread_and_other_codes_are_none() {
        for good in ["96385074", "036000291452", "4006381333931", "5012345678900", "10012345678902"] {
            assert!(check_digit_fits(good) && !is_misread(good), "{good}");
            // Any one digit that is another.
            for place in 0..good.len() {
                let mut digits: Vec<u8> = good.bytes().collect();
                digits[place] = b'0' + (digits[place] - b'0' + 1) % 10;
                assert!(is_misread(std::str::from_utf8(&digits).expect("digits")), "{good}, place {place}");
            }
        }
        for other in ["111", "4011", "96385075A", "AB-7", "1234567890", "", "500000000000000"] {
            assert!(!is_misread(other), "{other}");
        }
    }
}
