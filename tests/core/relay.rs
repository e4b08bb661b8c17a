//! A slow link to Redis: a TCP relay that delays each way, passes on what it gets as a network does, and counts round trips.

use crate::support::*;
use delayqueue::core::dsn::Dsn;
use delayqueue::core::queue::{Queue, QueueConfig};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

pub struct Relay {
    port: u16,
    trips: Arc<AtomicU32>,
}

impl Relay {
    pub fn before(server: &Server, each_way: Duration) -> Self {
        let (listener, socket) = (TcpListener::bind("127.0.0.1:0").unwrap(), server.socket());
        let relay = Self { port: listener.local_addr().unwrap().port(), trips: Arc::default() };
        let trips = relay.trips.clone();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(redis)) = (client, UnixStream::connect(&socket)) else { continue };
                client.set_nodelay(true).unwrap();
                let (trips, is_answered) = (trips.clone(), Arc::new(AtomicBool::new(true)));
                let (answered, ends) = (is_answered.clone(), (client.try_clone().unwrap(), redis.try_clone().unwrap()));
                let (to_client, to_redis) = (client.try_clone().unwrap(), redis.try_clone().unwrap());
                // A trip begins when the client sends something after it was answered.
                let asks = move || {
                    if is_answered.swap(false, Ordering::SeqCst) {
                        trips.fetch_add(1, Ordering::SeqCst);
                    }
                };
                pass(client, to_redis, each_way, asks, ends);
                let ends = (to_client.try_clone().unwrap(), redis.try_clone().unwrap());
                pass(redis, to_client, each_way, move || answered.store(true, Ordering::SeqCst), ends);
            }
        });
        relay
    }

    /// A queue behind the relay, over a connection of its own.
    pub fn queue(&self, name: &str) -> Queue {
        let dsn = Dsn::parse(&format!("redis://127.0.0.1:{}", self.port)).unwrap();
        Queue::new(QueueConfig { persistent: false, read_timeout: Duration::from_secs(2), ..config(dsn, name) })
    }

    /// How many round trips there have been since this was asked last.
    pub fn take_trips(&self) -> u32 {
        self.trips.swap(0, Ordering::SeqCst)
    }
}

/// Passes on what is read, each piece so much later.
fn pass(
    mut from: impl Read + Send + 'static,
    mut to: impl Write + Send + 'static,
    later: Duration,
    seen: impl Fn() + Send + 'static,
    ends: (TcpStream, UnixStream),
) {
    let (sender, receiver) = mpsc::channel::<(Instant, Vec<u8>)>();
    std::thread::spawn(move || {
        let mut piece = vec![0; 1 << 16];
        while let Ok(got @ 1..) = from.read(&mut piece) {
            seen();
            let _ = sender.send((Instant::now() + later, piece[..got].to_vec()));
        }
    });
    std::thread::spawn(move || {
        for (at, piece) in receiver {
            std::thread::sleep(at.saturating_duration_since(Instant::now()));
            if to.write_all(&piece).is_err() {
                break;
            }
        }
        let _ = ends.0.shutdown(Shutdown::Both);
        let _ = ends.1.shutdown(Shutdown::Both);
    });
}
