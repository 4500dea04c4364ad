//! Requests on behalf of graphs. Every server needs a grant, at every hop of a redirect. What lies inside the person's own
//! network (routers, databases, cloud metadata) is not reached unless a grant or the person's settings name exactly that
//! host: addresses are looked at after names are resolved.

use std::error::Error;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{HeaderMap, LOCATION};
use reqwest::{Client, Method, Response, Url};

use crate::base::access::{Access, AccessDenied, Grants};

/// Redirects that are followed.
const MAX_HOPS: usize = 5;
/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// Reason why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WebError {
    /// The graph may not ask this server.
    AccessDenied(AccessDenied),
    /// The address is inside the own network.
    Private(String),
    /// The server could not be reached, or broke off.
    Failed(String),
}

impl fmt::Display for WebError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WebError::AccessDenied(denied) => denied.fmt(f),
            WebError::Private(host) => write!(
                f,
                "{host} is inside the own network, which graphs do not reach. To allow it, name exactly this server in the project's trust settings, or in `private_hosts` of the model settings"
            ),
            WebError::Failed(cause) => f.write_str(cause),
        }
    }
}

impl Error for WebError {}

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct WebRequest {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Vec<u8>>,
}

/// Two clients: one for hosts that the person allowed, one that refuses what is private.
#[derive(Debug)]
pub(crate) struct Web {
    grants: Grants,
    private_hosts: Vec<String>,
    /// Connections that a request can find open.
    idle: usize,
    open: OnceLock<Result<Client, String>>,
    guarded: OnceLock<Result<Client, String>>,
}

impl Web {
    /// Reaches what `grants` allow; inside the own network only what they name, or what they allow and `private_hosts`
    /// (`HOST` or `HOST:PORT`) names.
    pub(crate) fn new(grants: &Grants, private_hosts: &[String]) -> Self {
        Self {
            grants: grants.clone(),
            private_hosts: private_hosts
                .iter()
                .map(|host| host.trim().to_lowercase())
                .collect(),
            idle: usize::MAX,
            open: OnceLock::new(),
            guarded: OnceLock::new(),
        }
    }

    /// Returns one that reaches the same, each request over a connection of its own: while a person reads a page, a server
    /// closes what is idle, and a request that meets that moment is lost.
    pub(crate) fn without_idle(&self) -> Self {
        Self {
            grants: self.grants.clone(),
            private_hosts: self.private_hosts.clone(),
            idle: 0,
            open: OnceLock::new(),
            guarded: OnceLock::new(),
        }
    }

    /// Sends a request. Redirects are followed for requests that only read; headers stay with the host they are for.
    pub(crate) async fn send(&self, mut call: WebRequest) -> Result<Response, WebError> {
        for _ in 0..=MAX_HOPS {
            let client = self.client_for(&call.url)?;
            let mut request = client
                .request(call.method.clone(), call.url.clone())
                .headers(call.headers.clone());
            if let Some(body) = &call.body {
                request = request.body(body.clone());
            }
            let response = request.send().await.map_err(|e| failure(&e))?;
            let reads = matches!(call.method, Method::GET | Method::HEAD);
            let next = response
                .headers()
                .get(LOCATION)
                .filter(|_| response.status().is_redirection());
            let Some(next) = next.and_then(|next| next.to_str().ok()).filter(|_| reads) else {
                return Ok(response);
            };
            let next = call.url.join(next).map_err(|e| {
                WebError::Failed(format!("it redirects to {next:?}, which is no address ({e})"))
            })?;
            if next.origin() != call.url.origin() {
                call.headers = HeaderMap::new();
            }
            call.url = next;
        }
        Err(WebError::Failed(format!(
            "it redirects more than {MAX_HOPS} times"
        )))
    }

    /// Returns the client that may ask this server. It follows no redirects; a caller that does asks here for every
    /// hop.
    pub(crate) fn client_for(&self, url: &Url) -> Result<&Client, WebError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(WebError::Failed(format!(
                "`{}` addresses are not fetched",
                url.scheme()
            )));
        }
        let host = url.host_str().unwrap_or_default().to_lowercase();
        let access = Access::host(&host, url.port_or_known_default());
        let Access::Host(with_port) = &access else {
            return Err(WebError::Failed("it has no host".to_owned()));
        };
        let listed = self
            .private_hosts
            .iter()
            .any(|known| *known == host || known == with_port);
        if !(self.grants.reach(&access) || listed && self.grants.allow(&Access::Host("*".into()))) {
            return Err(WebError::AccessDenied(AccessDenied(Access::of_url(url))));
        }
        let made = if listed || self.grants.name(&access) {
            self.open.get_or_init(|| client(None, self.idle))
        } else {
            // A host that is an address is never resolved.
            let literal = host
                .trim_start_matches('[')
                .trim_end_matches(']')
                .parse::<IpAddr>();
            if literal.is_ok_and(|ip| !is_public(ip)) {
                return Err(WebError::Private(with_port.clone()));
            }
            self.guarded
                .get_or_init(|| client(Some(Arc::new(Guarded)), self.idle))
        };
        made.as_ref().map_err(|cause| WebError::Failed(cause.clone()))
    }
}

fn client(resolver: Option<Arc<Guarded>>, idle: usize) -> Result<Client, String> {
    let mut builder = Client::builder()
        .pool_max_idle_per_host(idle)
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT)
        // A proxy would resolve names itself, beyond the guard.
        .no_proxy()
        .user_agent(concat!("superstep/", env!("CARGO_PKG_VERSION")));
    if let Some(resolver) = resolver {
        builder = builder.dns_resolver(resolver);
    }
    builder.build().map_err(|e| e.to_string())
}

/// Returns the cause of the failure, without the address, which may hold private data.
pub(crate) fn failure(error: &reqwest::Error) -> WebError {
    let mut cause: &(dyn Error + 'static) = error;
    while let Some(next) = cause.source() {
        if let Some(private) = next.downcast_ref::<WebError>() {
            return private.clone();
        }
        cause = next;
    }
    WebError::Failed(match error.is_timeout() {
        true => "it took too long".to_owned(),
        false => cause.to_string(),
    })
}

/// Resolves names, and refuses those of private addresses.
#[derive(Debug)]
struct Guarded;

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            // One private address is enough: which of them is connected to is not for an attacker to choose.
            if found.iter().any(|address| !is_public(address.ip())) {
                return Err(WebError::Private(host).into());
            }
            let addresses: Addrs = Box::new(found.into_iter());
            Ok(addresses)
        })
    }
}

/// Returns whether this is an address of the public network.
pub(crate) fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    !(ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_broadcast()
        || ip.is_multicast()
        || ip.is_documentation()
        || a == 0
        || a >= 240
        // Carrier-grade NAT, benchmarks, protocol assignments.
        || (a == 100 && (64..128).contains(&b))
        || (a == 198 && (18..20).contains(&b))
        || (a == 192 && b == 0 && c == 0))
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let parts = ip.segments();
    let embedded = |high: u16, low: u16| {
        let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        // An IPv4 address in other clothes: mapped, translated (NAT64), 6to4.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        [0x2002, high, low, ..] => embedded(high, low),
        // Global unicast, without documentation and Teredo.
        [first, second, ..] => {
            first & 0xe000 == 0x2000 && !(first == 0x2001 && (second == 0xdb8 || second == 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_private() {
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "255.255.255.255",
            "224.0.0.1",
            "198.18.0.1",
            "192.0.0.8",
            "240.0.0.1",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:db8::1",
            "::127.0.0.1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
        for public in [
            "1.1.1.1",
            "93.184.216.34",
            "172.32.0.1",
            "2606:4700::1111",
            "::ffff:1.1.1.1",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }

    async fn get(web: &Web, url: &str) -> WebError {
        let call = WebRequest {
            method: Method::GET,
            url: url.parse().unwrap(),
            headers: HeaderMap::new(),
            body: None,
        };
        web.send(call).await.unwrap_err()
    }

    const INSIDE: [&str; 6] = [
        "http://127.0.0.1:10/",
        "http://[::1]/",
        "http://0x7f000001/",
        "http://2130706433/",
        "http://localhost:10/",
        "http://[::ffff:10.0.0.1]/",
    ];

    #[tokio::test]
    async fn nothing_is_asked_without_a_grant() {
        let web = Web::new(&Grants::none(), &["127.0.0.1:9".to_owned()]);
        for url in INSIDE
            .into_iter()
            .chain(["https://example.org/", "http://127.0.0.1:9/"])
        {
            let error = get(&web, url).await;
            assert!(matches!(error, WebError::AccessDenied(_)), "{url}: {error}");
        }
        let other = Web::new(&Grants::these([Access::host("example.com", None)]), &[]);
        assert!(matches!(
            get(&other, "https://example.org/").await,
            WebError::AccessDenied(_)
        ));
    }

    #[tokio::test]
    async fn private_hosts_are_refused_by_address_and_by_name() {
        let web = Web::new(&Grants::all(), &["127.0.0.1:9".to_owned()]);
        for url in INSIDE {
            let error = get(&web, url).await;
            assert!(matches!(error, WebError::Private(_)), "{url}: {error}");
        }
        assert!(
            matches!(get(&web, "http://127.0.0.1:9/").await, WebError::Failed(_)),
            "listed, and nobody is there"
        );
        assert!(get(&web, "ftp://example.org/").await.to_string().contains("ftp"));
        let named = Web::new(&Grants::these([Access::host("127.0.0.1", Some(9))]), &[]);
        assert!(
            matches!(get(&named, "http://127.0.0.1:9/").await, WebError::Failed(_)),
            "named, and nobody is there"
        );
        assert!(matches!(
            get(&named, "http://127.0.0.1:10/").await,
            WebError::AccessDenied(_)
        ));
        let public = Web::new(&Grants::these([Access::Host("*".into())]), &[]);
        for url in INSIDE {
            let error = get(&public, url).await;
            assert!(
                matches!(error, WebError::AccessDenied(_)),
                "{url}: any public server is none of these"
            );
        }
    }

    #[tokio::test]
    async fn a_public_name_does_not_lead_inside() {
        // It is granted like any public server, and resolves to the own machine.
        let name = "looks.public.example";
        let web = Web::new(&Grants::these([Access::host(name, None)]), &[]);
        let guarded = Guarded.resolve("localhost".parse().unwrap()).await;
        assert!(guarded.is_err_and(|e| e.downcast_ref::<WebError>().is_some()));
        let client = web
            .client_for(&format!("http://{name}/").parse().unwrap())
            .unwrap();
        assert!(std::ptr::eq(client, web.guarded.get().unwrap().as_ref().unwrap()));
    }
}
