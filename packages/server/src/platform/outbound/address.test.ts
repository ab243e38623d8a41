import { Failure } from '@vestra/contract/errors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assertCallable, isPublicIp, mayConnect, refuseAddress } from './address.ts';

const closed = { allowPrivate: false };
const open = { allowPrivate: true };

const internal = 'Private, local and internal addresses are refused.';
const local = `${internal} To allow private and local ones, start the server with VESTRA_ALLOW_PRIVATE_ADDRESSES=1.`;
const needsHttps = 'The address must begin with https://.';
const plainHttp = 'Plain http is refused: the address must begin with https://.';
const badHost = 'The host must be a full name such as example.com, without a dot at its end.';
const odd = 'The address must not hold spaces, control characters or backslashes.';
const unreadable = 'The address is not a valid URL.';
const credentials = 'The address must not hold a user name or password.';

describe('an accepted address', () => {
  it.each([
    'https://example.com',
    'https://example.com:8443/hook?tenant=1#part',
    'HTTPS://EXAMPLE.COM/',
    'https://sub.domain.example.co.uk/path/@user:name',
    'https://münchen.example/',
    'https://8.8.8.8/',
    'https://8.8.8.8./',
    'https://172.15.255.255/',
    'https://172.32.0.0/',
    'https://168.63.129.17/',
    'https://[2606:4700:4700::1111]/',
    'https://notlocalhost.com/',
    'https://local.example.com/',
    'https://internal.example.com/',
    'https://example.arpa/',
    'https://127.0.0.1.nip.io/',
  ])('is %s', (url) => {
    expect(refuseAddress(url, closed)).toBeNull();
    expect(refuseAddress(url, open)).toBeNull();
  });
});

describe('a refused address', () => {
  it.each([
    ['', needsHttps],
    ['example.com', needsHttps],
    ['//example.com', needsHttps],
    ['ftp://example.com', needsHttps],
    ['file:///etc/passwd', needsHttps],
    ['javascript:alert(1)', needsHttps],
    ['https:example.com', needsHttps],
    ['https:/example.com', needsHttps],
    ['https:///example.com', needsHttps],
    ['https://', needsHttps],
    ['https:\\\\example.com', odd],
    ['https://example.com\\@127.0.0.1/', odd],
    [' https://example.com', odd],
    ['https://example.com ', odd],
    ['https://exam\nple.com', odd],
    ['https://example.com/\tpath', odd],
    ['https://example.com/\u0000', odd],
    ['https://example.com:99999', unreadable],
    ['https://[::1', unreadable],
    ['https://1.2.3.4.5', unreadable],
    ['https://4294967296', unreadable],
    ['https://[fe80::1%25eth0]/', unreadable],
    ['https://user@example.com', credentials],
    ['https://user:secret@example.com', credentials],
    ['https://:secret@example.com', credentials],
    ['https://example.com@127.0.0.1', credentials],
    ['http://example.com', plainHttp],
    ['http://8.8.8.8', plainHttp],
    ['http://[2606:4700:4700::1111]', plainHttp],
    ['http://127.0.0.1.nip.io', plainHttp],
    ['https://hooks', badHost],
    ['https://internal', badHost],
    ['https://lan', badHost],
    ['https://localhost.', badHost],
    ['https://example.com.', badHost],
    ['https://example.com。', badHost],
    ['https://a.local.', badHost],
    ['https://example..com', badHost],
    ['https://.com', badHost],
    ['https://0.0.0.0', internal],
    ['https://0', internal],
    ['https://0.1.2.3', internal],
    ['https://[::]', internal],
    ['https://169.254.169.254/latest/meta-data/', internal],
    ['https://169.254.170.2', internal],
    ['https://2852039166', internal],
    ['https://168.63.129.16', internal],
    ['https://0xa83f8110', internal],
    ['https://100.64.0.1', internal],
    ['https://100.100.100.200', internal],
    ['https://192.0.0.192', internal],
    ['https://192.0.2.1', internal],
    ['https://198.18.0.1', internal],
    ['https://198.51.100.1', internal],
    ['https://203.0.113.1', internal],
    ['https://192.88.99.1', internal],
    ['https://224.0.0.1', internal],
    ['https://239.255.255.250', internal],
    ['https://240.0.0.1', internal],
    ['https://255.255.255.255', internal],
    ['https://[fe80::1]', internal],
    ['https://[fec0::1]', internal],
    ['https://[ff02::1]', internal],
    ['https://[fd00:ec2::254]', internal],
    ['https://[fd20:ce::254]', internal],
    ['https://[::ffff:127.0.0.1]', internal],
    ['https://[::ffff:8.8.8.8]', internal],
    ['https://[::ffff:0:127.0.0.1]', internal],
    ['https://[::127.0.0.1]', internal],
    ['https://[64:ff9b::127.0.0.1]', internal],
    ['https://[64:ff9b::8.8.8.8]', internal],
    ['https://[64:ff9b:1::a00:1]', internal],
    ['https://[2002:7f00:1::]', internal],
    ['https://[2002:808:808::]', internal],
    ['https://[2001::1]', internal],
    ['https://[2001:db8::1]', internal],
    ['https://[3fff::1]', internal],
    ['https://[100::1]', internal],
    ['https://[4000::1]', internal],
  ])('is %j', (url, reason) => {
    expect(refuseAddress(url, closed)).toBe(reason);
    expect(refuseAddress(url, open)).toBe(reason);
  });

  it('is one of more than 2048 characters', () => {
    const ofLength = (length: number) => 'https://example.com/'.padEnd(length, 'a');
    expect(refuseAddress(ofLength(2048), closed)).toBeNull();
    expect(refuseAddress(ofLength(2049), closed)).toBe('The address may have at most 2048 characters.');
  });
});

describe('a private or loopback address', () => {
  const addresses = [
    'localhost',
    'LOCALHOST',
    'ⓛocalhost',
    'app.localhost',
    'printer.local',
    'host.docker.internal',
    'metadata.google.internal',
    'router.home.arpa',
    'home.arpa',
    'nas.lan',
    'localhost.localdomain',
    '127.0.0.1',
    '127.255.255.254',
    '127.0.0.1.',
    '127.1',
    '2130706433',
    '0177.0.0.1',
    '017700000001',
    '0x7f.0.0.1',
    '0x7f000001',
    '%31%32%37.0.0.1',
    '①②⑦.⓪.⓪.①',
    '127。0。0。1',
    '10.0.0.0',
    '10.255.255.255',
    '172.16.0.0',
    '172.31.255.255',
    '192.168.0.1',
    '0300.0250.0.1',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[fc00::1]',
    '[fdff:ffff::1]',
  ];

  it.each(addresses)('%s is refused, over https and http', (host) => {
    expect(refuseAddress(`https://${host}:8443/`, closed)).toBe(local);
    expect(refuseAddress(`http://${host}:8080/`, closed)).toBe(local);
  });

  it.each(addresses)('%s is accepted if the operator allows it, over https and http', (host) => {
    expect(refuseAddress(`https://${host}:8443/`, open)).toBeNull();
    expect(refuseAddress(`http://${host}:8080/`, open)).toBeNull();
  });
});

describe('any IPv4 address in any spelling', () => {
  const refusedRanges = [
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
    ['224.0.0.0', 4],
    ['240.0.0.0', 4],
    ['168.63.129.16', 32],
  ] as const;
  const refusedIp = fc
    .tuple(fc.constantFrom(...refusedRanges), fc.nat(0xffffffff))
    .map(([[base, prefix], random]) => within(toNumber(base), prefix, random));
  const publicIp = fc
    .tuple(
      fc.constantFrom(['8.0.0.0', 8] as const, ['93.184.0.0', 16] as const, ['172.32.0.0', 11] as const),
      fc.nat(0xffffffff),
    )
    .map(([[base, prefix], random]) => within(toNumber(base), prefix, random));

  it('is refused in every private or special range', () => {
    fc.assert(
      fc.property(refusedIp, spelling, (ip, spell) => {
        expect(refuseAddress(`https://${spell(ip)}/`, closed)).toMatch(internal);
      }),
      { numRuns: 3000 },
    );
  });

  it('is refused when an IPv6 address carries it', () => {
    fc.assert(
      fc.property(fc.oneof(refusedIp, publicIp), carrier, (ip, carry) => {
        // `::0.0.0.1` is the loopback address, which has a longer message.
        expect(refuseAddress(`https://[${carry(ip)}]/`, closed)).toContain(internal);
        expect(isPublicIp(carry(ip))).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  it('is accepted if it is public', () => {
    fc.assert(
      fc.property(publicIp, spelling, (ip, spell) => {
        expect(refuseAddress(`https://${spell(ip)}/`, closed)).toBeNull();
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a resolved address', () => {
  it.each([
    ['8.8.8.8', true],
    ['2606:4700:4700::1111', true],
    ['127.0.0.1', false],
    ['10.1.2.3', false],
    ['168.63.129.16', false],
    ['::1', false],
    ['::ffff:8.8.8.8', false],
    ['fe80::1%eth0', false],
    ['2606:4700:4700::1111%eth0', false],
    // Forms that only a lenient parser reads as an address.
    ['0x08.8.8.8', false],
    ['134744072', false],
    ['010.8.8.8', false],
    ['example.com', false],
    ['', false],
  ])('%j is public: %s', (ip, expected) => {
    expect(isPublicIp(ip)).toBe(expected);
  });

  it.each([
    ['8.8.8.8', 'https:', true, true],
    ['8.8.8.8', 'http:', false, false],
    ['127.0.0.1', 'https:', false, true],
    ['127.0.0.1', 'http:', false, true],
    ['fd12::1', 'http:', false, true],
    ['169.254.169.254', 'http:', false, false],
    ['169.254.169.254', 'https:', false, false],
    ['0.0.0.0', 'https:', false, false],
    ['168.63.129.16', 'https:', false, false],
    ['fd00:ec2::254', 'http:', false, false],
  ])('%s over %s may be connected to: %s, with private addresses open: %s', (ip, protocol, whenClosed, whenOpen) => {
    expect(mayConnect(ip, { protocol, allowPrivate: false })).toBe(whenClosed);
    expect(mayConnect(ip, { protocol, allowPrivate: true })).toBe(whenOpen);
  });
});

describe('assertCallable', () => {
  it('throws invalid_request on the parameter, without the address in its message', () => {
    const url = 'https://user:hunter2@example.com/?token=hunter2';
    const thrown = catchFailure(() => assertCallable(url, 'url', closed));
    expect(thrown).toMatchObject({ code: 'invalid_request', status: 400, details: { param: 'url' } });
    expect(thrown.message).toBe(credentials);
  });

  it('accepts a callable address', () => {
    expect(() => assertCallable('https://example.com/hook', 'url', closed)).not.toThrow();
    expect(() => assertCallable('http://127.0.0.1:9000/hook', 'url', open)).not.toThrow();
  });
});

type Spell = (ip: number) => string;

const bytesOf = (ip: number) => [ip >>> 24, (ip >>> 16) & 255, (ip >>> 8) & 255, ip & 255];
const inBase: Spell[] = [(part) => String(part), (part) => `0${part.toString(8)}`, (part) => `0x${part.toString(16)}`];

/**
 * One to four numbers, the last of which fills the rest, each decimal, octal or hex; perhaps percent-encoded or in full
 * width.
 */
const spelling = fc
  .tuple(
    fc.integer({ min: 1, max: 4 }),
    fc.array(fc.constantFrom(...inBase), { minLength: 4, maxLength: 4 }),
    fc.constantFrom<(text: string) => string>(asIs, percentEncoded, fullWidth, withDot),
  )
  .map(
    ([parts, bases, disguise]): Spell =>
      (ip) => {
        const head = bytesOf(ip).slice(0, parts - 1);
        const rest = ip % 256 ** (5 - parts);
        return disguise([...head, rest].map((part, index) => (bases[index] as Spell)(part)).join('.'));
      },
  );

const hex = (ip: number) => `${(ip >>> 16).toString(16)}:${(ip & 0xffff).toString(16)}`;
const carrier = fc.constantFrom<Spell>(
  (ip) => `::ffff:${hex(ip)}`,
  (ip) => `::ffff:${bytesOf(ip).join('.')}`,
  (ip) => `::ffff:0:${hex(ip)}`,
  (ip) => `::${bytesOf(ip).join('.')}`,
  (ip) => `64:ff9b::${hex(ip)}`,
  (ip) => `64:ff9b:1::${hex(ip)}`,
  (ip) => `2002:${hex(ip)}::1`,
  (ip) => `2001:0:${hex(ip)}::`,
);

function asIs(text: string): string {
  return text;
}

function withDot(text: string): string {
  return `${text}.`;
}

function percentEncoded(text: string): string {
  return text.replace(/./g, (character) => `%${character.charCodeAt(0).toString(16)}`);
}

function fullWidth(text: string): string {
  return text.replace(/[0-9a-fx]/g, (character) => String.fromCharCode(character.charCodeAt(0) + 0xfee0));
}

const toNumber = (ip: string) => ip.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);

function within(base: number, prefix: number, random: number): number {
  return base + (random % 2 ** (32 - prefix));
}

function catchFailure(work: () => void): Failure {
  try {
    work();
  } catch (error) {
    if (error instanceof Failure) return error;
  }
  throw new Error('Nothing of the kind was thrown.');
}
