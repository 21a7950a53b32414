//! Deposits of validators in logs (EIP-6110).

use alloy_primitives::{Log, b256};

use super::refusal::Refusal;
use trawl_core::primitives::B256;

/// `DepositEvent(bytes,bytes,bytes,bytes,bytes)` of the deposit contract.
const DEPOSIT: B256 = b256!("649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5");
/// Length of its data.
const LENGTH: usize = 576;
/// Where public key, withdrawal credentials, amount, signature and index begin, and how long they are.
const PARTS: [(usize, usize); 5] = [(192, 48), (288, 32), (352, 8), (416, 96), (544, 8)];

/// The data of the requests that the logs of the deposit contract make.
///
/// # Errors
///
/// When a deposit has another length than deposits have.
pub(super) fn of_logs<'l>(logs: impl Iterator<Item = &'l Log>) -> Result<Vec<u8>, Refusal> {
    let mut requests = Vec::new();
    for log in logs.filter(|log| log.data.topics().first() == Some(&DEPOSIT)) {
        let data = &log.data.data;
        if data.len() != LENGTH {
            return Err(Refusal::Parameter("a deposit of the deposit contract cannot be read".into()));
        }
        PARTS.iter().for_each(|(begin, length)| requests.extend_from_slice(&data[*begin..begin + length]));
    }
    Ok(requests)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_primitives::LogData;
    use trawl_core::primitives::Address;

    #[test]
    fn a_deposit_is_its_five_parts() {
        let data: Vec<u8> = (0..LENGTH).map(|index| u8::try_from(index % 251).expect("small")).collect();
        let log = |data: &[u8]| Log {
            address: Address::ZERO,
            data: LogData::new_unchecked(vec![DEPOSIT], data.to_vec().into()),
        };
        let requests = of_logs([&log(&data)].into_iter()).expect("a deposit");
        assert_eq!((requests.len(), requests[0], requests[48]), (192, 192, u8::try_from(288 % 251).expect("small")));
        assert!(of_logs([&log(&data[1..])].into_iter()).is_err());
        let other = Log { address: Address::ZERO, data: LogData::default() };
        assert_eq!(of_logs([&other].into_iter()), Ok(Vec::new()));
    }
}
