//! `DelayQueue\QueueInterface` and `DelayQueue\JobInterface`: what users type against, decorate and replace in tests, since the
//! classes are final. They are declared from the methods of the classes, so that the two cannot differ.

use super::class::{Class, Declaration, Kind, Method, Rejected};
use super::{delay_queue, job};
use std::borrow::Cow;

static QUEUE: Class = Class::new("DelayQueue\\QueueInterface");
static JOB: Class = Class::new("DelayQueue\\JobInterface");

/// Methods of the class that are about its Redis. A queue that lives elsewhere has no answer to them.
const ABOUT_REDIS: [&str; 10] = [
    "__construct",
    "close",
    "doctor",
    "dsn",
    "installScripts",
    "partitions",
    "prefix",
    "reseal",
    "tellWorkers",
    "workers",
];

/// Before the class of jobs.
pub fn register_job() -> Result<(), Rejected> {
    register(&JOB, &[], &job::METHODS)
}

/// After the classes that its methods return, before the class of queues.
pub fn register_queue() -> Result<(), Rejected> {
    register(&QUEUE, &["Countable"], &delay_queue::METHODS)
}

fn register(class: &Class, interfaces: &'static [&'static str], methods: &[Method]) -> Result<(), Rejected> {
    let is_about_redis = |method: &Method| {
        let name = method.declaration.split('(').next().unwrap_or_default();
        ABOUT_REDIS.contains(&name)
    };
    let methods: Vec<Method> = methods.iter().filter(|method| !is_about_redis(method)).map(without_body).collect();
    class.register(&Declaration {
        kind: Kind::Interface,
        parent: None,
        interfaces,
        properties: &[],
        methods: &methods,
        create: None,
    })
}

/// The class returns its own jobs; of others that implement the interface no more is asked than the interface of jobs.
fn without_body(method: &Method) -> Method {
    let declaration = match method.declaration.strip_suffix(": ?\\DelayQueue\\Job") {
        Some(head) => Cow::Owned(format!("{head}: ?\\DelayQueue\\JobInterface")),
        None => method.declaration.clone(),
    };
    Method { declaration, handler: None }
}
