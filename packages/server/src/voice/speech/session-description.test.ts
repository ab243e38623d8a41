import { describe, expect, it } from 'vitest';
import { guardAnswer, guardOffer } from './session-description.ts';

const fingerprint = `a=fingerprint:sha-256 ${Array(32).fill('4b').join(':')}`;
const head = ['v=0', 'o=- 1 2 IN IP4 127.0.0.1', 's=-', 't=0 0', 'a=group:BUNDLE 0 1', fingerprint];
const offerOf = (...lines: string[]) =>
  [...head, 'm=audio 9 UDP/TLS/RTP/SAVPF 111', 'a=mid:0', ...lines, ''].join('\r\n');
const host = (address: string, more = '') => `a=candidate:1 1 udp 2122194687 ${address} 50000 typ host${more}`;
const closed = { allowPrivate: false };
const opened = { allowPrivate: true };
const candidatesOf = (sdp: string | null) => sdp?.match(/^a=.*candidate.*$/gim)?.map((line) => line.trim()) ?? [];

describe('an offer', () => {
  it.each([
    ['a public address', host('203.0.114.7'), 'both'],
    ['a public IPv6 address', host('2606:4700::1'), 'both'],
    ['a private address', host('10.0.0.1'), 'opened'],
    ['loopback', host('127.0.0.1'), 'opened'],
    ['IPv6 loopback', host('::1'), 'opened'],
    ['a unique local address', host('fd00::2'), 'opened'],
    ['a metadata service', host('169.254.169.254'), 'neither'],
    ['a link-local address', host('fe80::1'), 'neither'],
    ['an IPv4 address inside an IPv6 one', host('::ffff:127.0.0.1'), 'neither'],
    ['a multicast address', host('224.0.0.1'), 'neither'],
    ['a decimal address', host('2130706433'), 'neither'],
    ['an octal address', host('0177.0.0.1'), 'neither'],
    ['a hidden browser', host('4f2c1c5e-1111-4222-8333-444455556666.local'), 'neither'],
    ['a host name', host('db.example.com'), 'neither'],
    ['TCP', 'a=candidate:1 1 tcp 1518280447 203.0.114.7 9 typ host tcptype active', 'neither'],
    ['TCP in capitals', 'a=candidate:1 1 TCP 1518280447 203.0.114.7 9 typ host', 'neither'],
    ['TLS', 'a=candidate:1 1 ssltcp 1518280447 203.0.114.7 443 typ host', 'neither'],
    ['a second component', 'a=candidate:1 2 udp 1 203.0.114.7 50000 typ host', 'neither'],
    ['another spelling', 'a=CANDIDATE:1 1 udp 1 169.254.1.1 50000 typ host', 'neither'],
    ['remote candidates', 'a=remote-candidates:1 10.0.0.1 50000', 'neither'],
    ['an unreadable candidate', 'a=candidate:1 1 udp', 'neither'],
  ])('names %s [VOI-611]', (_, line, kept) => {
    const expected = (isKept: boolean) => (isKept ? [line] : []);
    expect(candidatesOf(guardOffer(offerOf(line), closed))).toEqual(expected(kept === 'both'));
    expect(candidatesOf(guardOffer(offerOf(line), opened))).toEqual(expected(kept !== 'neither'));
  });

  it('keeps one candidate per address and section, and twenty in all [VOI-611]', () => {
    const twice = offerOf(host('203.0.114.7'), host('203.0.114.7', ' generation 0'), 'm=application 5 UDP/DTLS/SCTP x');
    expect(candidatesOf(guardOffer(`${twice}${host('203.0.114.7')}\r\n`, closed))).toHaveLength(2);
    const many = Array.from({ length: 800 }, (__, at) => host(`203.0.${114 + (at >> 8)}.${at & 255}`));
    expect(candidatesOf(guardOffer(offerOf(...many), closed))).toHaveLength(20);
  });

  it('stays valid without its addresses [VOI-611]', () => {
    const offer = [
      ...head,
      'm=audio 45124 UDP/TLS/RTP/SAVPF 111',
      'c=IN IP4 192.168.1.7',
      'a=rtcp:45125 IN IP4 192.168.1.7',
      host('203.0.114.7', ' generation 0 network-id 1 raddr 10.0.0.1 rport 9'),
      'a=end-of-candidates',
      'a=ice-options:trickle',
      'm=video 0 UDP/TLS/RTP/SAVPF 96',
      '',
    ];
    const guarded = [
      ...head,
      'm=audio 9 UDP/TLS/RTP/SAVPF 111',
      'c=IN IP4 0.0.0.0',
      'a=rtcp:9 IN IP4 0.0.0.0',
      host('203.0.114.7'),
      'a=end-of-candidates',
      'a=ice-options:trickle',
      'm=video 0 UDP/TLS/RTP/SAVPF 96',
      '',
    ].join('\r\n');
    expect(guardOffer(offer.join('\r\n'), closed)).toBe(guarded);
    expect(guardOffer(offer.join('\n'), closed)).toBe(guarded);
  });

  it.each([
    ['nothing', ''],
    ['another text', 'hello'],
    ['no sound', offerOf().replace('m=audio', 'm=video')],
    ['no fingerprint', offerOf().replace(fingerprint, 'a=x')],
    ['a short fingerprint', offerOf().replace(fingerprint, 'a=fingerprint:sha-256 4B:DD')],
    ['a fingerprint that is not hexadecimal', offerOf().replace(/4b:4b/, '4b:ZZ')],
    ['an unknown digest', offerOf().replace('sha-256', 'md5')],
    ['a second fingerprint that is malformed', offerOf('a=fingerprint:sha-256')],
    ['a line break that others read', offerOf(`a=x\r${host('10.0.0.1')}`)],
    ['a control character', offerOf('a=x\0')],
    ['more than 100,000 characters', offerOf(...Array(20_001).fill('a=x'))],
  ])('is refused with %s [VOI-612]', (_, sdp) => {
    expect(guardOffer(sdp, opened)).toBeNull();
  });
});

describe('an answer', () => {
  const answer = [
    'v=0',
    'm=audio 52193 UDP/TLS/RTP/SAVPF 111',
    'c=IN IP4 10.0.0.7',
    'a=rtcp:9 IN IP4 0.0.0.0',
    'a=candidate:1 1 udp 2122265343 fd00::2 37397 typ host generation 0 network-id 2',
    'a=candidate:2 1 udp 2122194687 10.0.0.7 52193 typ host generation 0 network-id 1',
    'a=candidate:3 1 udp 2122136831 ::1 40985 typ host generation 0',
    'a=candidate:4 1 udp 2122063615 127.0.0.1 58521 typ host generation 0',
    'a=candidate:5 1 udp 2122063615 fe80::1 58522 typ host generation 0',
    'a=candidate:6 1 tcp 1518214911 10.0.0.7 39937 typ host tcptype passive',
    'a=candidate:7 1 udp 1677729535 203.0.114.7 52193 typ srflx raddr 10.0.0.7 rport 52193',
    'a=candidate:8 1 udp 41885695 203.0.114.8 49152 typ relay raddr 203.0.114.7 rport 52193',
    'a=ice-ufrag:wKSO',
    '',
  ].join('\r\n');
  const reflexive = [
    'a=candidate:7 1 udp 1677729535 203.0.114.7 52193 typ srflx raddr 0.0.0.0 rport 0',
    'a=candidate:8 1 udp 41885695 203.0.114.8 49152 typ relay raddr 0.0.0.0 rport 0',
  ];
  const unique = 'a=candidate:1 1 udp 2122265343 fd00::2 37397 typ host';
  const own = 'a=candidate:2 1 udp 2122194687 10.0.0.7 52193 typ host';

  it('names no TCP port, no loopback address and no address behind a NAT [VOI-611]', () => {
    const shown = guardAnswer(answer, { address: null, allowPrivate: false });
    expect(shown.split('\r\n')).toEqual([
      'v=0',
      'm=audio 9 UDP/TLS/RTP/SAVPF 111',
      'c=IN IP4 0.0.0.0',
      'a=rtcp:9 IN IP4 0.0.0.0',
      unique,
      own,
      ...reflexive,
      'a=ice-ufrag:wKSO',
      '',
    ]);
    const withLoopback = candidatesOf(guardAnswer(answer, { address: null, allowPrivate: true }));
    expect(withLoopback.filter((line) => /::1|127\.0\.0\.1/.test(line))).toHaveLength(2);
  });

  it('names the configured address instead of the machine’s [VOI-611]', () => {
    for (const allowPrivate of [true, false]) {
      expect(candidatesOf(guardAnswer(answer, { address: '198.51.101.1', allowPrivate }))).toEqual([
        own.replace('10.0.0.7', '198.51.101.1'),
        ...reflexive,
      ]);
    }
  });
});
