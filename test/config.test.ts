import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { providerVariables } from '../src/core/model/provider.ts';
import { ConfigError, readConfig, requireSecret } from '../src/process/config/config.ts';

const secret = 'a secret of the configuration tests';
const databaseUrl = 'postgres://cueline:pass@db.example.com:5432/cueline';

test('an empty environment gives the documented defaults', () => {
  assert.deepEqual(readConfig({}), {
    port: 4000,
    portGiven: false,
    host: '127.0.0.1',
    publicUrl: null,
    databaseUrl: null,
    readUrl: null,
    readLagMs: 5_000,
    databasePool: 10,
    dataDir: '.cueline',
    secret: null,
    migrate: 'auto',
    owner: { email: null, password: null },
    slots: 500,
    streamBytes: 134_217_728,
    bodyBytes: 50_331_648,
    callBodyBytes: 33_554_432,
    executionBytes: 100_663_296,
    providerCalls: 20_000,
    leaseMs: 6_000,
    drainMs: 30_000,
    testingLimits: { requestsPerMinute: 10, requestsPerHour: 500, requestsPerDay: 10_000 },
    listPerMinute: 300,
    searchIndex: true,
    managePerMinute: 600,
    batchStorage: { linesMax: 200_000, bytesMax: 268_435_456 },
    webhookPerMinute: 600,
    trustedProxies: [],
    allowedHosts: [],
    chainWorkspaces: [],
    metricsToken: null,
    logLevel: 'info',
    otlpEndpoint: null,
    smtp: null,
    signIn: { github: null, google: null, oidc: null },
    client: { url: null, apiKey: null },
    providerEnv: {},
    proxies: { http: null, https: null, noProxy: '' },
    warnings: [],
  });
});

test('an empty or blank variable counts as absent', () => {
  const names = ['PORT', 'HOST', 'DATABASE_URL', 'CUELINE_SECRET', 'CUELINE_MIGRATE'];
  names.push('CUELINE_SLOTS', 'CUELINE_TRUSTED_PROXIES', 'CUELINE_OIDC_ISSUER');
  for (const blank of ['', '  ']) {
    const env = Object.fromEntries(names.map((name) => [name, blank]));
    assert.deepEqual(readConfig(env), readConfig({}));
  }
  assert.deepEqual(readConfig({ OPENAI_API_KEY: '' }).providerEnv, {});
});

test('the config is deeply frozen', () => {
  const config = readConfig({ CUELINE_ALLOWED_HOSTS: 'ollama.lan' });
  for (const part of [
    config,
    config.owner,
    config.allowedHosts,
    config.providerEnv,
    config.signIn,
  ]) {
    assert.ok(Object.isFrozen(part));
  }
});

const good: [
  variable: string,
  given: string,
  read: (config: ReturnType<typeof readConfig>) => unknown,
  is: unknown,
][] = [
  ['PORT', '0', (c) => c.port, 0],
  ['PORT', ' 8080 ', (c) => [c.port, c.portGiven], [8080, true]],
  ['HOST', '0.0.0.0', (c) => c.host, '0.0.0.0'],
  ['HOST', '::', (c) => c.host, '::'],
  ['HOST', 'localhost', (c) => c.host, 'localhost'],
  [
    'CUELINE_PUBLIC_URL',
    'https://Cueline.example.com/',
    (c) => c.publicUrl,
    'https://cueline.example.com',
  ],
  ['CUELINE_PUBLIC_URL', 'http://10.0.0.1:4000', (c) => c.publicUrl, 'http://10.0.0.1:4000'],
  ['CUELINE_PUBLIC_URL', 'https://x/ai/cueline/', (c) => c.publicUrl, 'https://x/ai/cueline'],
  ['CUELINE_URL', 'https://x/cueline', (c) => c.client.url, 'https://x/cueline'],
  ['DATABASE_URL', databaseUrl, (c) => c.databaseUrl, databaseUrl],
  [
    'DATABASE_URL',
    'postgresql:///cueline?host=/run',
    (c) => c.databaseUrl,
    'postgresql:///cueline?host=/run',
  ],
  [
    'DATABASE_URL',
    'postgres://me@/cueline?host=/run',
    (c) => c.databaseUrl,
    'postgres://me@/cueline?host=/run',
  ],
  [
    'DATABASE_URL',
    'postgres://u:p%23%40%2F%3F%25:w@[::1]/db?host=/run&application_name=a?b',
    (c) => c.databaseUrl,
    'postgres://u:p%23%40%2F%3F%25:w@[::1]/db?host=/run&application_name=a?b',
  ],
  [
    'DATABASE_URL',
    'postgres://u@a:5432,b,[::1]:5433/db?target_session_attrs=read-write',
    (c) => c.databaseUrl,
    'postgres://u@a:5432,b,[::1]:5433/db?target_session_attrs=read-write',
  ],
  ['CUELINE_SECRET', secret, (c) => c.secret, secret],
  ['CUELINE_MIGRATE', 'manual', (c) => c.migrate, 'manual'],
  ['CUELINE_SLOTS', '20000', (c) => c.slots, 20_000],
  ['CUELINE_PROVIDER_CALLS', '7', (c) => c.providerCalls, 7],
  ['CUELINE_TESTING_LIMITS', '1/2/3', (c) => Object.values(c.testingLimits), [1, 2, 3]],
  [
    'CUELINE_TRUSTED_PROXIES',
    '10.0.0.0/8, ::1,fd00::/8,',
    (c) => c.trustedProxies,
    ['10.0.0.0/8', '::1', 'fd00::/8'],
  ],
  [
    'CUELINE_ALLOWED_HOSTS',
    '127.0.0.1:9000,ollama.lan,[::1]:8080',
    (c) => c.allowedHosts.length,
    3,
  ],
  ['CUELINE_LOG_LEVEL', 'silent', (c) => c.logLevel, 'silent'],
  ['CUELINE_OWNER_EMAIL', 'ada@example.com', (c) => c.owner.email, 'ada@example.com'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://otel:4318', (c) => c.otlpEndpoint, 'http://otel:4318'],
  ['OPENAI_API_KEY', 'sk-1', (c) => c.providerEnv, { OPENAI_API_KEY: 'sk-1' }],
  ['OLLAMA_HOST', 'box:11434', (c) => c.providerEnv, { OLLAMA_HOST: 'box:11434' }],
  ['PATH', '/bin', (c) => c.providerEnv, {}],
  ['HTTP_PROXY', 'proxy:3128', (c) => c.proxies.http, 'http://proxy:3128'],
  ['http_proxy', 'http://proxy:3128', (c) => c.proxies.https, 'http://proxy:3128'],
  ['HTTPS_PROXY', 'https://u:p@proxy', (c) => c.proxies.https, 'https://u:p@proxy'],
  ['https_proxy', 'http://proxy', (c) => c.proxies.http, null],
  ['no_proxy', 'localhost,.lan', (c) => c.proxies.noProxy, 'localhost,.lan'],
];
for (const [variable, given, read, is] of good) {
  test(`${variable}=${given} is accepted`, () => {
    assert.deepEqual(read(readConfig({ [variable]: given })), is);
  });
}

const bad: [variable: string, ...given: string[]][] = [
  ['PORT', '65536', '-1', '80.5', '0x50', '1e3', 'http', '٣'],
  ['HOST', 'a b', 'http://x', '-x', '127.0.0.1:80'],
  [
    'CUELINE_PUBLIC_URL',
    'cueline.example.com',
    'ftp://x',
    'https://x/api',
    'https://x/agents/cueline',
    'https://x/a%20b',
    'https://x//a',
    'https://x/?q',
    'https://x/#f',
  ],
  ['CUELINE_MIGRATE', 'yes', 'AUTO'],
  ['CUELINE_SLOTS', '0', '20001', '5 00'],
  ['CUELINE_PROVIDER_CALLS', '0', '20001'],
  ['CUELINE_LEASE_MS', '599', '60001'],
  ['CUELINE_DRAIN_MS', '-1', '30s'],
  ['CUELINE_DATABASE_POOL', '0', '201'],
  ['CUELINE_READ_LAG_MS', '499', '600001'],
  ['CUELINE_LIST_PER_MINUTE', '0', 'none'],
  ['CUELINE_SEARCH_INDEX', 'yes', 'ON'],
  ['CUELINE_MANAGE_PER_MINUTE', '0', 'none'],
  ['CUELINE_WEBHOOK_PER_MINUTE', '0', '1000001'],
  ['CUELINE_TESTING_LIMITS', '10', '10/500', '0/1/1', '10/500/10000/1', '10/x/1'],
  ['CUELINE_TRUSTED_PROXIES', 'proxy.lan', '10.0.0.0/33', '::1/129', '10.0.0.0/', '10.0.0.256'],
  ['CUELINE_ALLOWED_HOSTS', 'http://x', 'a:b', 'a:0', 'a:65536', '::1', 'a/b', 'u@a', '*.lan'],
  ['CUELINE_CHAIN_WORKSPACES', 'own', 'wsp_1', '*'],
  ['CUELINE_OWNER_EMAIL', 'ada', 'ada@example', 'a b@example.com'],
  ['CUELINE_LOG_LEVEL', 'verbose'],
  ['CUELINE_URL', 'localhost:4000'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'otel:4318'],
];
for (const [variable, ...values] of bad) {
  for (const given of values) {
    test(`${variable}=${given} is rejected with the value and the allowed values`, () => {
      const problems = problemsOf({ [variable]: given });
      assert.equal(problems.length, 1);
      assert.ok(problems[0]?.startsWith(`${variable} is ${JSON.stringify(given)}; expected `));
    });
  }
}

const secrets: [variable: string, given: string][] = [
  ['CUELINE_SECRET', 'hunter2'],
  ['CUELINE_SECRET', 'a'.repeat(64)],
  ['CUELINE_SECRET', `${'a'.repeat(40)}b`],
  ['CUELINE_SECRET', '1234'.repeat(10)],
  ['CUELINE_SECRET', 'hunter2-'.repeat(5).slice(0, 37)],
  ['CUELINE_SECRET', 'hunter1hunter2hunter3hunter4hunter5'],
  ['CUELINE_SECRET', '0123456789abcdef0123456789abcdef'],
  ['CUELINE_OWNER_PASSWORD', 'hunter2'],
  ['CUELINE_METRICS_TOKEN', 'hunter2 hunter2 hunter2'],
  ['CUELINE_KEY', 'hunter2 hunter2'],
  ['DATABASE_URL', 'mysql://root:hunter2@db/x'],
  ['DATABASE_URL', 'hunter2'],
  ['DATABASE_READ_URL', 'hunter2'],
  ['DATABASE_URL', 'postgres://u:hunter2@a:5432,b:99999/db'],
  ['DATABASE_URL', 'postgres://u:hunter2@a,b/db?target_session_attrs=standby'],
  ['DATABASE_URL', 'postgres://u:hunter2@/db?host=/a,/b&port=1,2,3'],
  ['HTTPS_PROXY', 'socks5://user:hunter2@proxy'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'grpc://user:hunter2@otel'],
  ['CUELINE_PUBLIC_URL', 'https://user:hunter2@example.com'],
];
for (const [variable, given] of secrets) {
  test(`${variable} is rejected without revealing its value (${given})`, () => {
    const problems = problemsOf({ [variable]: given });
    assert.equal(problems.length, 1);
    assert.ok(problems[0]?.startsWith(`${variable} is not valid; expected `));
    assert.ok(!problems[0]?.includes('hunter') && !problems[0]?.includes(given));
  });
}

const unencoded = ['#', '@', '?', '/', '%'].flatMap((sign) => [
  `postgres://cueline:hunter${sign}two@db.example.com/cueline`,
  `postgres://cueline:hunter${sign}@db.example.com/cueline`,
  `postgres://cueline:12${sign}yhunter@db/cueline?sslmode=require`,
  `postgres://cueline:a@b${sign}hunter@/cueline?host=/run`,
  `postgres://db/cueline?user=cueline&password=hunter${sign}two@three`,
]);
for (const given of unencoded) {
  test(`a password with an unencoded sign is refused with a hint, and not shown (${given})`, () => {
    const [problem = '', ...others] = problemsOf({ DATABASE_URL: given });
    assert.deepEqual(others, []);
    assert.match(problem, /^DATABASE_URL is not valid; expected .*percent-encoded.*# as %23/);
    assert.doesNotMatch(problem, /hunter|two/);
  });
}

test('all problems are reported at once', () => {
  const env = { PORT: 'x', CUELINE_SLOTS: '0', CUELINE_SECRET: 'short', DATABASE_URL: 'y' };
  const problems = problemsOf(env);
  assert.equal(problems.length, 4);
  assert.throws(
    () => readConfig(env),
    (error: Error) => problems.every((line) => error.message.includes(line)),
  );
});

test('a sign-in provider needs all variables of its group', () => {
  const complete = {
    CUELINE_PUBLIC_URL: 'https://cueline.example.com',
    CUELINE_OIDC_ISSUER: 'https://id.example.com/realm',
    CUELINE_OIDC_CLIENT_ID: 'cueline',
    CUELINE_OIDC_CLIENT_SECRET: 'hush',
    CUELINE_GITHUB_CLIENT_ID: 'gh',
    CUELINE_GITHUB_CLIENT_SECRET: 'hush',
  };
  assert.deepEqual(readConfig(complete).signIn, {
    github: { clientId: 'gh', clientSecret: 'hush' },
    google: null,
    oidc: { issuer: 'https://id.example.com/realm', clientId: 'cueline', clientSecret: 'hush' },
  });
  const { CUELINE_OIDC_ISSUER: _, CUELINE_GITHUB_CLIENT_SECRET: __, ...part } = complete;
  assert.deepEqual(problemsOf(part), [
    'CUELINE_GITHUB_CLIENT_SECRET is missing; expected all of CUELINE_GITHUB_… or none.',
    'CUELINE_OIDC_ISSUER is missing; expected all of CUELINE_OIDC_… or none.',
  ]);
  const { CUELINE_PUBLIC_URL: ___, ...withoutUrl } = complete;
  assert.deepEqual(problemsOf({ ...withoutUrl, PORT: 'x' }), [
    'PORT is "x"; expected a whole number from 0 to 65535.',
    'CUELINE_PUBLIC_URL is missing: an identity provider must know where to send browsers back to.',
  ]);
});

test('e-mail needs a server, a sender and a public URL', () => {
  const complete = {
    CUELINE_PUBLIC_URL: 'https://cueline.example.com',
    CUELINE_SMTP_URL: 'smtps://user:hunter2@mail.example.com:465',
    CUELINE_SMTP_FROM: 'Cueline <cueline@example.com>',
  };
  assert.deepEqual(readConfig(complete).smtp, {
    url: 'smtps://user:hunter2@mail.example.com:465',
    from: 'Cueline <cueline@example.com>',
  });
  const { CUELINE_SMTP_FROM: _, ...withoutSender } = complete;
  assert.deepEqual(problemsOf(withoutSender), [
    'CUELINE_SMTP_FROM is missing; expected all of CUELINE_SMTP_… or none.',
  ]);
  const { CUELINE_PUBLIC_URL: __, ...withoutUrl } = complete;
  assert.deepEqual(problemsOf(withoutUrl), [
    'CUELINE_PUBLIC_URL is missing: links in e-mails need it.',
  ]);
  for (const wrong of [
    { CUELINE_SMTP_URL: 'http://user:hunter2@mail.example.com' },
    { CUELINE_SMTP_FROM: 'Cueline' },
    { CUELINE_SMTP_FROM: 'A\nBcc: b@example.com <a@example.com>' },
  ]) {
    const [problem = '', ...others] = problemsOf({ ...complete, ...wrong });
    assert.deepEqual(others, []);
    assert.ok(problem.startsWith(`${Object.keys(wrong)[0]} is`) && !problem.includes('hunter2'));
  }
});

test('secrets are read from files', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'cueline-config-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = (name: string, text: string | Buffer) => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  const config = readConfig({
    DATABASE_URL_FILE: file('url', `${databaseUrl}\n`),
    CUELINE_SECRET_FILE: file('secret', `\uFEFF${secret}\r\n`),
    CUELINE_OWNER_PASSWORD_FILE: file('password', 'a password of ten'),
    CUELINE_METRICS_TOKEN_FILE: file('token', 'a-token-of-sixteen'),
    CUELINE_PUBLIC_URL: 'https://cueline.example.com',
    CUELINE_GITHUB_CLIENT_ID: 'gh',
    CUELINE_GITHUB_CLIENT_SECRET_FILE: file('client', 'hush'),
    ...Object.fromEntries(
      providerVariables.map((name) => [`${name}_FILE`, file(name, `value of ${name}\n`)]),
    ),
    // Of other programs, and not for Cueline.
    AWS_WEB_IDENTITY_TOKEN_FILE: '/nowhere',
  });
  assert.equal(config.databaseUrl, databaseUrl);
  assert.equal(config.secret, secret);
  assert.equal(config.owner.password, 'a password of ten');
  assert.equal(config.metricsToken, 'a-token-of-sixteen');
  assert.deepEqual(config.signIn.github, { clientId: 'gh', clientSecret: 'hush' });
  assert.equal(config.providerEnv.OPENAI_API_KEY, 'value of OPENAI_API_KEY');
  assert.equal(Object.keys(config.providerEnv).length, providerVariables.length);
  assert.deepEqual(config.warnings, []);

  const missing = join(directory, 'missing');
  const [absent, empty, binary, invalid, twice, ...others] = problemsOf({
    DATABASE_URL_FILE: missing,
    CUELINE_SECRET_FILE: file('empty', ' \n'),
    CUELINE_OWNER_PASSWORD_FILE: file('binary', Buffer.from([0xff, 0xfe, 0x61])),
    OPENAI_API_KEY: 'sk-1',
    OPENAI_API_KEY_FILE: file('key', 'sk-2'),
    CUELINE_METRICS_TOKEN_FILE: file('short', 'hunter2'),
  });
  assert.equal(absent, `DATABASE_URL_FILE (${missing}) cannot be read as UTF-8 text (ENOENT).`);
  assert.match(empty ?? '', /^CUELINE_SECRET_FILE \(.*\) is empty\.$/);
  assert.match(binary ?? '', /^CUELINE_OWNER_PASSWORD_FILE .* cannot be read as UTF-8 text/);
  assert.match(twice ?? '', /^OPENAI_API_KEY_FILE .* is set together with OPENAI_API_KEY\.$/);
  assert.match(invalid ?? '', /^CUELINE_METRICS_TOKEN is not valid/);
  assert.deepEqual(others, []);
});

test('an unknown CUELINE_ variable is a warning', () => {
  const { warnings, slots } = readConfig({
    ...{ CUELINE_SLOT: '9', CUELINE_SLOTS: '7', OTHER: '1' },
    ...{ CUELINE_EMPTY: '', CUELINE_BLANK: ' ' },
  });
  assert.deepEqual(warnings, ['CUELINE_SLOT is set, but Cueline knows no such variable.']);
  assert.equal(slots, 7);
});

test('an external database requires CUELINE_SECRET, an embedded one does not', () => {
  requireSecret(readConfig({}));
  requireSecret(readConfig({ DATABASE_URL: databaseUrl, CUELINE_SECRET: secret }));
  assert.throws(() => requireSecret(readConfig({ DATABASE_URL: databaseUrl })), {
    name: 'ConfigError',
    message: /CUELINE_SECRET is missing.*32 characters/,
  });
});

function problemsOf(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test('a standby needs a database of its own', () => {
  const url = 'postgres://u@standby/db?target_session_attrs=standby';
  assert.equal(readConfig({ DATABASE_URL: databaseUrl, DATABASE_READ_URL: url }).readUrl, url);
  assert.throws(() => readConfig({ DATABASE_READ_URL: url }), /DATABASE_URL is missing/);
});
