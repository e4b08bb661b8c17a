//! Host names for tests: `getaddrinfo` of this program. It knows a name for which no server ever answers, and one with two addresses.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::net::Ipv4Addr;
use std::sync::OnceLock;
use std::time::Duration;

/// A name server that keeps silent: looking this up takes longer than any test waits.
pub const SILENT: &str = "silent.test";
/// 127.0.0.1, then 127.0.0.2.
pub const TWO: &str = "two.test";

type GetAddrInfo =
    unsafe extern "C" fn(*const c_char, *const c_char, *const libc::addrinfo, *mut *mut libc::addrinfo) -> c_int;

/// Takes the place of the C library's, which is asked about all other names.
///
/// # Safety
/// As that of the C library.
#[unsafe(no_mangle)]
unsafe extern "C" fn getaddrinfo(
    node: *const c_char,
    service: *const c_char,
    hints: *const libc::addrinfo,
    found: *mut *mut libc::addrinfo,
) -> c_int {
    static REAL: OnceLock<usize> = OnceLock::new();
    // SAFETY: the caller passes arguments of the C library; `found` is a place for a list that `freeaddrinfo` can free.
    unsafe {
        match (!node.is_null()).then(|| CStr::from_ptr(node).to_bytes()) {
            Some(name) if name == SILENT.as_bytes() => {
                std::thread::sleep(Duration::from_secs(30));
                libc::EAI_AGAIN
            }
            Some(name) if name == TWO.as_bytes() => {
                *found = entry([127, 0, 0, 1].into(), entry([127, 0, 0, 2].into(), std::ptr::null_mut()));
                0
            }
            _ => {
                let real = REAL.get_or_init(|| libc::dlsym(libc::RTLD_NEXT, c"getaddrinfo".as_ptr()) as usize);
                std::mem::transmute::<*mut c_void, GetAddrInfo>(*real as *mut c_void)(node, service, hints, found)
            }
        }
    }
}

/// An entry and its address in one block, as the C library makes and frees them.
unsafe fn entry(address: Ipv4Addr, next: *mut libc::addrinfo) -> *mut libc::addrinfo {
    // SAFETY: the block has room for both, and is zeroed; an address needs no stricter alignment than an entry.
    unsafe {
        let entry: *mut libc::addrinfo =
            libc::calloc(1, size_of::<libc::addrinfo>() + size_of::<libc::sockaddr_in>()).cast();
        let place: *mut libc::sockaddr_in = entry.add(1).cast();
        (*place).sin_family = libc::AF_INET as u16;
        (*place).sin_addr.s_addr = u32::from(address).to_be();
        (*entry).ai_family = libc::AF_INET;
        (*entry).ai_socktype = libc::SOCK_STREAM;
        (*entry).ai_addrlen = size_of::<libc::sockaddr_in>() as u32;
        (*entry).ai_addr = place.cast();
        (*entry).ai_next = next;
        entry
    }
}
