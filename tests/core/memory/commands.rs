//! Random commands: right and wrong ones, with arguments at the edges.

use proptest::test_runner::{RngAlgorithm, TestRng};
use rand::RngExt;

/// The scores of `names` are the same: Redis leaves open which members are between two names where scores differ.
pub const KEYS: [&str; 7] = ["hash", "hash2", "zset", "zset2", "names", "text", "none"];
/// With commas between them, as those below.
const SCORES: &str = "0,-0,1,1,1,2,-1,1.5,0.1,inf,-inf,+Infinity,9007199254740992,\
    9007199254740993,-9007199254740992,1e17,123456789012345678,1.7e308,-1e-300,5e-324,nan,abc,, 1,1e400,1e-400";
const ENDS: &str = "-inf,+inf,inf,(0,0,1,(1,(inf,(-inf,1.5,9007199254740992,(9007199254740992,,(,abc,nan";
const NUMBERS: &str = "0,0,1,1,-1,2,-2,3,5,-5,100,9007199254740993,9223372036854775807,-9223372036854775808,9223372036854775808,01,+1,-0,1.0,,abc, 1";

pub struct Commands {
    rng: TestRng,
}

impl Commands {
    pub fn of_seed(seed: u8) -> Self {
        Self { rng: TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]) }
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.rng.random_range(0..limit)
    }

    fn one<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }

    fn one_of(&mut self, listed: &str) -> Vec<u8> {
        self.one(&listed.split(',').collect::<Vec<_>>()).into()
    }

    fn often(&mut self) -> bool {
        self.below(8) > 0
    }

    /// Mostly one of the type.
    fn key(&mut self, of: &[&str]) -> Vec<u8> {
        if self.often() { self.one(of).into() } else { self.one(&KEYS).into() }
    }

    fn member(&mut self) -> Vec<u8> {
        match self.below(24) {
            0 => Vec::new(),
            1 => vec![b'x'; 100],
            2 => b"a\0b".to_vec(),
            3 => b"\xff\xfe".to_vec(),
            4 => (0..self.below(4)).map(|_| self.rng.random()).collect(),
            5 => "12".into(),
            6..10 => format!("m{}", self.below(300)).into(),
            _ => vec![b'a' + u8::try_from(self.below(8)).unwrap()],
        }
    }

    fn members(&mut self) -> Vec<Vec<u8>> {
        (0..=self.below(4)).map(|_| self.member()).collect()
    }

    fn number(&mut self) -> Vec<u8> {
        if self.below(4) == 0 { self.one_of(NUMBERS) } else { self.below(7).to_string().into() }
    }

    fn score(&mut self) -> Vec<u8> {
        if self.below(3) == 0 { self.one_of(SCORES) } else { self.below(9).to_string().into() }
    }

    fn end(&mut self) -> Vec<u8> {
        if self.below(3) == 0 { self.one_of(ENDS) } else { self.below(9).to_string().into() }
    }

    fn name_end(&mut self) -> Vec<u8> {
        match self.below(12) {
            0..2 => "-".into(),
            2..4 => "+".into(),
            4 => self.member(),
            n => [if n % 2 == 0 { "[" } else { "(" }.as_bytes(), &self.member()].concat(),
        }
    }

    fn zset(&mut self) -> Vec<u8> {
        self.key(&["zset", "zset", "zset2"])
    }

    fn limit(&mut self, words: &mut Vec<Vec<u8>>) {
        if self.below(3) == 0 {
            words.extend(["LIMIT".into(), self.number(), self.number()]);
        }
    }

    fn sometimes(&mut self, words: &mut Vec<Vec<u8>>, options: &[&str], one_in: usize) {
        for option in options {
            if self.below(one_in) == 0 {
                words.push(if self.below(4) == 0 { option.to_lowercase() } else { (*option).into() }.into());
            }
        }
    }

    pub fn command(&mut self) -> Vec<Vec<u8>> {
        let hashes = ["hash", "hash", "hash2"];
        let mut words: Vec<Vec<u8>> = Vec::new();
        let name = match self.below(100) {
            0..8 => {
                words.push(self.key(&hashes));
                (0..=self.below(3)).for_each(|_| words.extend([self.member(), self.member()]));
                "HSET"
            }
            8..11 => {
                words.extend([self.key(&hashes), self.member(), self.member()]);
                "HSETNX"
            }
            11..16 => {
                words.extend([self.key(&hashes), self.one(&["n", "n", "n2", "a"]).into(), self.number()]);
                "HINCRBY"
            }
            16..20 => {
                words.extend([self.key(&hashes), self.member()]);
                self.one(&["HGET", "HEXISTS"])
            }
            20..25 => {
                words.push(self.key(&hashes));
                words.extend(self.members());
                self.one(&["HDEL", "HDEL", "HMGET"])
            }
            25..29 => {
                words.push(self.key(&hashes));
                self.one(&["HLEN", "HGETALL", "HSCAN"])
            }
            29..43 => {
                let key = self.zset();
                words.push(if key == b"names" { "zset".into() } else { key });
                self.sometimes(&mut words, &["NX", "XX", "GT", "LT", "CH"], 7);
                (0..=self.below(3)).for_each(|_| words.extend([self.score(), self.member()]));
                "ZADD"
            }
            43..48 => {
                words.push("names".into());
                (0..=self.below(4)).for_each(|_| words.extend(["0".into(), self.member()]));
                "ZADD"
            }
            48..53 => {
                words.push(self.key(&["zset", "zset2", "names"]));
                words.extend(self.members());
                self.one(&["ZREM", "ZREM", "ZMSCORE"])
            }
            53..57 => {
                words.extend([self.zset(), self.member()]);
                self.one(&["ZSCORE", "ZRANK"])
            }
            57..61 => {
                words.extend([self.zset(), self.end(), self.end()]);
                self.one(&["ZCOUNT", "ZCOUNT", "ZREMRANGEBYSCORE"])
            }
            61..68 => {
                words.extend([self.zset(), self.end(), self.end()]);
                self.sometimes(&mut words, &["WITHSCORES"], 2);
                self.limit(&mut words);
                self.sometimes(&mut words, &["WITHSCORES", "REV"], 30);
                "ZRANGEBYSCORE"
            }
            68..75 => {
                words.extend([self.zset(), self.number(), self.number()]);
                self.sometimes(&mut words, &["REV", "WITHSCORES"], 3);
                self.sometimes(&mut words, &["LIMIT", "BYSCORE", "FOO"], 40);
                "ZRANGE"
            }
            75..79 => {
                words.extend([self.zset(), self.end(), self.end(), "BYSCORE".into()]);
                self.sometimes(&mut words, &["REV", "WITHSCORES"], 3);
                self.limit(&mut words);
                "ZRANGE"
            }
            79..86 => {
                words.extend(["names".into(), self.name_end(), self.name_end()]);
                let kind = self.one(&["ZLEXCOUNT", "ZRANGEBYLEX", "ZRANGEBYLEX", "ZRANGE"]);
                if kind == "ZRANGE" {
                    words.push("BYLEX".into());
                    self.sometimes(&mut words, &["REV"], 2);
                    self.sometimes(&mut words, &["WITHSCORES"], 30);
                }
                if kind != "ZLEXCOUNT" {
                    self.limit(&mut words);
                }
                kind
            }
            86..89 => {
                words.extend([self.key(&["text"]), self.member()]);
                self.sometimes(&mut words, &["GET"], 2);
                if self.below(4) == 0 {
                    words.extend(["PX".into(), self.one(&["10000000", "20000000", "0", "-1", "x"]).into()]);
                }
                "SET"
            }
            89..91 => {
                words.extend([self.key(&["text"]), self.member()]);
                "APPEND"
            }
            91..93 => {
                words.extend([self.key(&["text"]), self.number(), self.number()]);
                "GETRANGE"
            }
            93..97 => {
                words.push(self.zset());
                self.one(&["TYPE", "EXISTS", "ZCARD", "ZCARD", "GET", "PTTL"])
            }
            97 => {
                words.extend([self.key(&KEYS), self.key(&KEYS)]);
                self.one(&["DEL", "UNLINK", "EXISTS"])
            }
            98 => {
                // An error shows the words, and the client of the tests reads errors in UTF-8.
                let is_known = self.below(4) > 0;
                words.extend(if is_known { [self.member(), self.member()] } else { ["a".into(), "b".into()] });
                if is_known { "PUBLISH" } else { "NOSUCH" }
            }
            _ => {
                words.extend(self.members());
                self.one(&["PING", "ZADD", "zscore"])
            }
        };
        if name == "HSCAN" {
            words.extend([b"0".to_vec(), "COUNT".into(), self.one(&["10000", "10000", "0", "x"]).into()]);
        }
        words.insert(0, if self.below(9) == 0 { name.to_lowercase() } else { name.into() }.into());
        match if name == "NOSUCH" { 9 } else { self.below(40) } {
            0 => drop(words.pop()),
            1 => words.push(self.member()),
            _ => {}
        }
        if words.is_empty() { vec!["PING".into()] } else { words }
    }
}
