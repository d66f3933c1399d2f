import { isIP } from 'node:net';
import { type SessionAttributes, splitDatabaseUrl } from '../../core/database-url.ts';
import { fromId } from '../../core/id.ts';
import { isEmail } from '../../core/people/email.ts';
import { isBasePath } from '../../core/public-url.ts';

/**
 * The format of a variable: `allowed` completes the sentence «expected …»; `secret` keeps its value out of messages, and
 * `fromFile` allows `NAME_FILE` instead.
 */
export interface Form {
  readonly allowed: string;
  readonly secret?: true;
  readonly fromFile?: true;
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

/** A base URL, perhaps with a path; used without a slash at its end. */
export const baseURLForm: Form = {
  allowed:
    'an http:// or https:// URL such as https://cueline.example.com or https://example.com/cueline, with a path of letters, digits and . _ ~ - that does not begin like one of Cueline (api, docs, agents, …)',
  accepts: (text) => {
    const url = URL.parse(text);
    const plain = url && [url.origin, url.pathname].join('') === url.href;
    return (
      urlForm.accepts(text) && Boolean(plain) && isBasePath(url?.pathname.replace(/\/$/, '') ?? '')
    );
  },
  normal: (text) => new URL(text).href.replace(/\/$/, ''),
};

const encodedSigns =
  'with # % / ? @ in its parts percent-encoded (# as %23, % as %25, / as %2F, ? as %3F, @ as %40)';

/** Cueline writes, so a standby is never wanted. */
export const databaseForm: Form = {
  allowed: `postgres://user:password@host:5432/database, ${encodedSigns}, perhaps with several hosts (a:5432,b:5432) and target_session_attrs=read-write or primary`,
  secret: true,
  fromFile: true,
  accepts: (text) => isDatabaseUrl(text, ['any', 'read-write', 'primary']),
};

export const standbyForm: Form = {
  allowed: `postgres://user:password@standby:5432/database, ${encodedSigns}, perhaps with several hosts (a:5432,b:5432) and target_session_attrs`,
  secret: true,
  fromFile: true,
  accepts: (text) => isDatabaseUrl(text, null),
};

function isDatabaseUrl(text: string, allowed: readonly SessionAttributes[] | null): boolean {
  // The URL parser would take the rest of a password behind one of these characters for the host, path or query.
  const misread = /#|@.*@|[/?].*@|%(?![0-9a-f]{2})/is.test(text.replace(/^[^/]*\/\//, ''));
  const split = misread ? null : splitDatabaseUrl(text);
  if (!split) return false;
  if (split.attributes && allowed?.includes(split.attributes) === false) return false;
  // No host: `pg` reads this as a Unix socket, `postgres://user@/database?host=/run/postgresql`.
  const url = URL.parse(split.url.replace('@/', '@localhost/'));
  return /^postgres(ql)?:$/.test(url?.protocol ?? '');
}

export const secretForm: Form = {
  allowed: '32 characters or more that do not repeat a pattern',
  secret: true,
  fromFile: true,
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
  fromFile: true,
  accepts: (text) => /^[\x21-\x7e]{16,}$/.test(text),
};

export const passwordForm: Form = {
  allowed: '10 to 128 characters',
  secret: true,
  fromFile: true,
  accepts: (text) => text.length >= 10 && text.length <= 128,
};

export const credentialForm: Form = {
  allowed: 'printable characters without blanks',
  secret: true,
  fromFile: true,
  accepts: (text) => /^[\x21-\x7e]+$/.test(text),
};

export const emailForm: Form = {
  allowed: 'an e-mail address',
  accepts: (text) => text.length <= 254 && isEmail(text),
};

/** Where to send e-mail. */
export const smtpForm: Form = {
  allowed: 'smtp://user:password@host:port or smtps://…, with special characters percent-encoded',
  secret: true,
  fromFile: true,
  accepts: (text) => {
    const url = URL.parse(text);
    return /^smtps?:$/.test(url?.protocol ?? '') && Boolean(url?.hostname);
  },
};

/** The sender of e-mail. */
export const senderForm: Form = {
  allowed: 'an e-mail address, perhaps with a name: Cueline <cueline@example.com>',
  accepts: (text) => {
    const [, name = '', bracketed] = /^([^<>"\r\n]*)<([^<>]+)>$/.exec(text) ?? [];
    return name.length <= 100 && emailForm.accepts(bracketed ?? text);
  },
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

export const workspaceForm: Form = {
  allowed: 'ids of workspaces with commas between them, such as wsp_01jd0000000000000000000000',
  accepts: (text) => fromId('workspace', text) !== null,
};

/** Checked where the provider is used. */
export const providerForm: Form = {
  allowed: 'a text',
  secret: true,
  fromFile: true,
  accepts: () => true,
};

export const proxyForm: Form = {
  allowed: 'the http:// or https:// URL of a proxy, such as http://proxy.example.com:3128',
  secret: true,
  accepts: (text) => urlForm.accepts(withScheme(text)),
  normal: withScheme,
};

/** Proxy variables often have none. */
function withScheme(text: string): string {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
}
