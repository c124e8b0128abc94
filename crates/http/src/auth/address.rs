//! Where a request comes from. What a stranger writes into a header says nothing; what a trusted proxy adds does.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::extract::ConnectInfo;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use ipnet::IpNet;

/// The address of the client of a request: the peer's, or, when the peer is one of the `trusted` proxies, the rightmost
/// one of `X-Forwarded-For` that is not.
pub fn client_address(parts: &Parts, trusted: &[IpNet]) -> IpAddr {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |ConnectInfo(peer)| peer.ip().to_canonical());
    let is_trusted = |address: IpAddr| trusted.iter().any(|net| net.contains(&address));
    let mut nearest = peer;
    for hop in hops(&parts.headers) {
        if !is_trusted(nearest) {
            break;
        }
        // What is no address was not written by a proxy that can be trusted.
        let Some(address) = hop else { break };
        nearest = address;
    }
    nearest
}

/// Whether the other end of the connection is one of the `trusted` proxies.
pub(super) fn is_from_proxy(parts: &Parts, trusted: &[IpNet]) -> bool {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    peer.is_some_and(|ConnectInfo(peer)| trusted.iter().any(|net| net.contains(&peer.ip().to_canonical())))
}

/// The entries of `X-Forwarded-For`, the nearest first.
fn hops(headers: &HeaderMap) -> impl Iterator<Item = Option<IpAddr>> {
    let lines: Vec<&str> =
        headers.get_all("x-forwarded-for").iter().map(|line| line.to_str().unwrap_or_default()).collect();
    lines.into_iter().rev().flat_map(|line| line.rsplit(',').map(|entry| parse(entry.trim())))
}

/// An address, with or without a port.
fn parse(text: &str) -> Option<IpAddr> {
    let with_port = || text.parse::<SocketAddr>().ok().map(|socket| socket.ip());
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    text.parse().ok().or_else(with_port).or_else(bracketed).map(|address: IpAddr| address.to_canonical())
}

/// What is counted as one origin: an IPv4 address, or the /64 that one IPv6 host can choose from.
pub(super) fn origin(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let prefix = address.to_bits() >> 64 << 64;
            format!("{}/64", Ipv6Addr::from_bits(prefix))
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn address(peer: &str, trusted: &[&str], forwarded: &[&str]) -> String {
        let mut request = Request::new(());
        request.extensions_mut().insert(ConnectInfo(SocketAddr::new(peer.parse().expect("an address"), 1)));
        for line in forwarded {
            request.headers_mut().append("x-forwarded-for", line.parse().expect("a header"));
        }
        let trusted: Vec<IpNet> = trusted.iter().map(|net| net.parse().expect("a network")).collect();
        client_address(&request.into_parts().0, &trusted).to_string()
    }

    #[test]
    fn a_stranger_cannot_say_where_they_are() {
        assert_eq!(address("198.51.100.7", &[], &["10.0.0.1"]), "198.51.100.7");
        assert_eq!(address("198.51.100.7", &["10.0.0.0/8"], &["10.0.0.1", "127.0.0.1"]), "198.51.100.7");
        // Through the proxy: what the stranger wrote stands left of what the proxy added.
        assert_eq!(address("10.0.0.1", &["10.0.0.0/8"], &["127.0.0.1, 198.51.100.7"]), "198.51.100.7");
        assert_eq!(address("10.0.0.1", &["10.0.0.0/8"], &["127.0.0.1", "198.51.100.7"]), "198.51.100.7");
        assert_eq!(address("10.0.0.1", &["10.0.0.0/8"], &["10.9.9.9, 198.51.100.7"]), "198.51.100.7");
        assert_eq!(address("10.0.0.1", &["10.0.0.0/8"], &["127.0.0.1, nonsense"]), "10.0.0.1");
    }

    #[test]
    fn the_last_hop_before_the_trusted_proxies_is_the_client() {
        assert_eq!(address("10.0.0.1", &["10.0.0.0/8"], &["203.0.113.9, 10.0.0.2"]), "203.0.113.9");
        assert_eq!(address("10.0.0.1", &["10.0.0.0/8"], &["10.0.0.3"]), "10.0.0.3", "a client on the inside");
        assert_eq!(address("10.0.0.1", &["10.0.0.0/8"], &[]), "10.0.0.1");
        assert_eq!(address("::1", &["::1/128"], &["2001:db8::5"]), "2001:db8::5");
        assert_eq!(address("::ffff:10.0.0.1", &["10.0.0.0/8"], &["203.0.113.9:4711"]), "203.0.113.9");
        assert_eq!(address("::1", &["::1/128"], &["[2001:db8::5]:80"]), "2001:db8::5");
    }

    #[test]
    fn hosts_of_one_ipv6_network_are_one_origin() {
        let of = |text: &str| origin(text.parse().expect("an address"));
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff::1"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("192.0.2.1"), "192.0.2.1");
    }
}
