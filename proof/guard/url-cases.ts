import { type GuardCase, publicAddress } from './guard-case.ts';

/** URLs beyond their host: schemes, users, ports, redirects, and the operator's allowed hosts. */

const denied = (baseURL: string): GuardCase => ({ baseURL, stored: false, reaches: [] });
const withAllowed = (
  allowedHosts: readonly string[],
  baseURL: string,
  ...reaches: readonly string[]
): GuardCase => ({ baseURL, allowedHosts, stored: reaches.length > 0, reaches });

const gateway = { 'gateway.lan': [['10.0.0.7']] };
/** An allowed host that redirects every call. The call must not follow. */
const redirecting = (status: number, location: string): GuardCase => ({
  baseURL: `http://gateway.lan/to/${status}/${Buffer.from(location).toString('base64url')}`,
  names: gateway,
  allowedHosts: ['gateway.lan'],
  stored: true,
  reaches: ['10.0.0.7 80'],
});

/** All provider kinds: every provider package must use the guarded client. */
const kinds = [
  'openai',
  'anthropic',
  'google',
  'azure',
  'bedrock',
  'ollama',
  'openai-compatible',
] as const;

/** By part of the reason. */
const deniedUrls = {
  'https://': [
    'http://example.com/v1',
    'http://127.0.0.1:6379/v1',
    'http://8.8.8.8/v1',
    'ftp://example.com/v1',
    'file:///etc/passwd',
    'gopher://127.0.0.1:6379/_x',
    'ws://example.com/v1',
    'wss://example.com/v1',
    'unix:///var/run/docker.sock',
    'http+unix://%2Fvar%2Frun%2Fdocker.sock/v1',
    'data:text/plain,x',
    'javascript:alert(1)',
    'blob:https://example.com/1',
  ],
  'not point to a public address': [
    'https:\\\\127.0.0.1\\v1',
    'https:/127.0.0.1/v1',
    'https:127.0.0.1/v1',
    'https:///127.0.0.1/v1',
    ' https://127.0.0.1/v1 ',
    'ht\ttps://127.0.\n0.1/v1',
    'HTTPS://127.0.0.1/v1',
    'https://127.0.0.1:5432/v1',
    'https://10.0.0.1:22/v1',
    'https://[::1]:6379/v1',
    'https://169.254.169.254:80/latest/meta-data',
  ],
  'user name': [
    'https://example.com@127.0.0.1/v1',
    'https://127.0.0.1@example.com/v1',
    'https://user@example.com/v1',
    'https://user:secret@example.com/v1',
    'https://:secret@example.com/v1',
    'https://example.com%40127.0.0.1@[::1]/v1',
  ],
  'no query and no fragment': [
    'https://example.com\\@127.0.0.1/v1?x',
    'https://127.0.0.1#@example.com/v1',
    'https://127.0.0.1?@example.com/v1',
    'https://example.com#@127.0.0.1/v1',
    'https://example.com/v1?x=',
    'https://example.com/v1?',
  ],
  'not a URL': [
    '',
    'example.com/v1',
    '//127.0.0.1/v1',
    '/var/run/docker.sock',
    'https://',
    'https://:443/v1',
    'https://127.0.0.1\u0000.example.com/v1',
    'https://127.0.0.1 .example.com/v1',
    'https://127.0.0.1:443:80/v1',
    'https://example.com:99999/v1',
    'https://256.256.256.256/v1',
    'https://1.2.3.4.5/v1',
    'https://0x.0x.0x.0x1ff/v1',
    'https://[::1/v1',
  ],
  characters: [`https://example.com/${'x'.repeat(2_000)}`],
};

export const urlCases: readonly GuardCase[] = [
  ...Object.entries(deniedUrls).flatMap(([why, urls]) =>
    urls.map((url) => ({ ...denied(url), why })),
  ),
  ...kinds.map((kind) => ({ ...denied('https://127.0.0.1/v1'), kind })),
  ...kinds.map((kind, i) => ({
    ...{ baseURL: `https://k${i}.example.com/v1`, stored: true, reaches: [], kind },
    names: { [`k${i}.example.com`]: [[publicAddress], ['169.254.169.254']] },
  })),
  ...kinds.map((kind) => ({
    ...{ baseURL: 'https://8.8.8.8/v1', stored: true, reaches: ['8.8.8.8 443'], kind },
  })),
  { baseURL: 'https://8.8.8.8:8443/v1', stored: true, reaches: ['8.8.8.8 8443'] },

  withAllowed(['127.0.0.1:9000'], 'http://127.0.0.1:9000/v1', '127.0.0.1 9000'),
  withAllowed(['127.0.0.1:9000'], 'http://0x7f.1:9000/v1', '127.0.0.1 9000'),
  withAllowed(['127.0.0.1:9000'], 'http://127.0.0.1:9001/v1'),
  withAllowed(['127.0.0.1:9000'], 'http://127.0.0.1/v1'),
  withAllowed(['127.0.0.1:9000'], 'http://127.0.0.2:9000/v1'),
  withAllowed(['127.0.0.1:9000'], 'http://localhost:9000/v1'),
  withAllowed(['127.0.0.1:9000'], 'http://[::1]:9000/v1'),
  withAllowed(['127.0.0.1:9000'], 'http://[::ffff:127.0.0.1]:9000/v1'),
  withAllowed(['127.0.0.1:9000'], 'http://x@127.0.0.1:9000/v1'),
  withAllowed(['127.0.0.1'], 'http://127.0.0.1:9001/v1', '127.0.0.1 9001'),
  withAllowed(['127.0.0.1'], 'https://127.0.0.1/v1', '127.0.0.1 443'),
  withAllowed(['[::1]:9000'], 'http://[0:0:0:0:0:0:0:1]:9000/v1', '::1 9000'),
  withAllowed(['[::1]:9000'], 'http://127.0.0.1:9000/v1'),
  { ...withAllowed(['gateway.lan'], 'http://gateway.lan/v1', '10.0.0.7 80'), names: gateway },
  { ...withAllowed(['gateway.lan:80'], 'http://gateway.lan/v1', '10.0.0.7 80'), names: gateway },
  { ...withAllowed(['gateway.lan:80'], 'http://gateway.lan:9000/v1'), names: gateway },
  { ...withAllowed(['gateway.lan'], 'http://gateway.lan./v1'), names: gateway },
  {
    ...withAllowed(['gateway.lan'], 'http://x.gateway.lan/v1'),
    names: { 'x.gateway.lan': [['10.0.0.7']] },
  },
  { ...withAllowed(['gateway.lan'], 'gopher://gateway.lan/v1'), names: gateway },
  {
    ...withAllowed(['gateway.lan'], 'http://GATEWAY.lan:9000/v1', '10.0.0.7 9000'),
    names: gateway,
  },
  { ...withAllowed(['Gateway.Lan:443'], 'https://gateway.lan/v1', '10.0.0.7 443'), names: gateway },
  {
    ...withAllowed(['gateway.lan:443'], 'http://gateway.lan:443/v1', '10.0.0.7 443'),
    names: gateway,
  },
  { ...withAllowed(['gateway.lan:443'], 'http://gateway.lan/v1'), names: gateway },
  withAllowed(['gateway.lan'], 'http://gateway.lan.example.com/v1'),

  {
    ...{ baseURL: 'https://bent.example.com\\\\@127.0.0.1/v1', stored: true },
    ...{ names: { 'bent.example.com': [[publicAddress]] }, reaches: [`${publicAddress} 443`] },
  },

  redirecting(301, 'http://169.254.169.254/latest/meta-data'),
  redirecting(302, 'http://127.0.0.1:9000/'),
  redirecting(303, 'http://[::1]:9000/'),
  redirecting(307, 'http://10.0.0.1/v1/chat/completions'),
  redirecting(307, 'https://8.8.8.8/v1/chat/completions'),
  redirecting(308, 'http://192.168.1.1/'),
  redirecting(308, '//127.0.0.1:9000/'),
  redirecting(302, 'file:///etc/passwd'),
];
