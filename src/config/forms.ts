import { isIP } from 'node:net';
import { isEmail } from '../core/people/email.ts';

/**
 * The format of a variable: `allowed` completes the sentence «expected …»; `secret` keeps its value out of messages.
 */
export interface Form {
  readonly allowed: string;
  readonly secret?: true;
  readonly accepts: (text: string) => boolean;
  /** The value in the form the program uses. */
  readonly normal?: (text: string) => string;
}

export const hostForm: Form = {
  allowed: 'an IP address or a host name to listen on',
  accepts: (text) =>
    isIP(text) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(text),
};

export const urlForm: Form = {
  allowed: 'an http:// or https:// URL',
  accepts: (text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
};

export const originForm: Form = {
  allowed: 'an http:// or https:// URL without a path, such as https://cueline.example.com',
  accepts: (text) => {
    const url = URL.parse(text);
    return urlForm.accepts(text) && [url?.origin, `${url?.origin}/`].includes(url?.href);
  },
  normal: (text) => new URL(text).origin,
};

export const databaseForm: Form = {
  allowed: 'postgres://user:password@host:5432/database',
  secret: true,
  // No host: `pg` reads this as a Unix socket, `postgres://user@/database?host=/run/postgresql`.
  accepts: (text) =>
    /^postgres(ql)?:$/.test(URL.parse(text.replace('@/', '@localhost/'))?.protocol ?? ''),
};

export const secretForm: Form = {
  allowed: '32 characters or more that do not repeat a pattern',
  secret: true,
  accepts: (text) => text.length >= 32 && !repeatsPattern(text),
};

/** The share of characters that equal the one a period before. Random texts stay far below, even of digits alone. */
const repeatedShareMax = 0.75;

/** Whether a text consists of a shorter text again and again, perhaps with a few changes (`secret1secret2secret3`). */
function repeatsPattern(text: string): boolean {
  for (let period = 1; period <= text.length / 2; period++) {
    const rest = [...text.slice(period)];
    const repeated = rest.filter((character, at) => character === text[at]).length;
    if (repeated >= rest.length * repeatedShareMax) return true;
  }
  return false;
}

export const tokenForm: Form = {
  allowed: '16 printable characters or more, without blanks',
  secret: true,
  accepts: (text) => /^[\x21-\x7e]{16,}$/.test(text),
};

export const passwordForm: Form = {
  allowed: '10 to 128 characters',
  secret: true,
  accepts: (text) => text.length >= 10 && text.length <= 128,
};

export const credentialForm: Form = {
  allowed: 'printable characters without blanks',
  secret: true,
  accepts: (text) => /^[\x21-\x7e]+$/.test(text),
};

export const emailForm: Form = {
  allowed: 'an e-mail address',
  accepts: (text) => text.length <= 254 && isEmail(text),
};

export const limitsForm: Form = {
  allowed: 'calls per minute/hour/day, such as 10/500/10000',
  accepts: (text) => /^[1-9]\d{0,8}(\/[1-9]\d{0,8}){2}$/.test(text),
};

export const rangeForm: Form = {
  allowed: 'IP addresses and CIDR ranges with commas between them, such as 10.0.0.0/8,::1',
  accepts: (text) => {
    const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
    const version = isIP(address);
    return version !== 0 && Number(bits ?? 0) <= (version === 4 ? 32 : 128);
  },
};

export const allowedHostForm: Form = {
  allowed: 'host or host:port with commas between them, such as 127.0.0.1:9000,[::1]:8080',
  accepts: (text) => {
    // A `*` would be a literal host name and match none.
    const [, host, port = '1'] = /^(\[[^\]]+\]|[^[\]:/?#@\\\s*]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
    const known = host !== undefined && URL.canParse(`http://${host}/`);
    return known && Number(port) >= 1 && Number(port) <= 65_535;
  },
};
