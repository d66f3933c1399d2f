import type { RateLimits } from '../../core/agent/limits.ts';
import type { BatchStorageLimits } from '../../core/batch/batch.ts';
import { type ProviderEnv, providerVariables } from '../../core/model/provider.ts';
import type { ProxySettings } from '../../core/proxy-settings.ts';
import {
  allowedHostForm,
  baseURLForm,
  credentialForm,
  databaseForm,
  emailForm,
  type Form,
  hostForm,
  limitsForm,
  passwordForm,
  providerForm,
  proxyForm,
  rangeForm,
  secretForm,
  senderForm,
  smtpForm,
  standbyForm,
  tokenForm,
  urlForm,
  workspaceForm,
} from './forms.ts';
import { ConfigError, type Reader, reader } from './reader.ts';

export { ConfigError };

/** The environment as one frozen, validated value. Nothing else reads it. */
export interface Config {
  /** 0 picks any free port. */
  readonly port: number;
  /** A worker process serves health and metrics only if a port is given. */
  readonly portGiven: boolean;
  readonly host: string;
  /** The public URL of this server, such as `https://example.com/cueline`; no trailing slash. */
  readonly publicUrl: string | null;
  /** An external PostgreSQL; `null` for the embedded one. */
  readonly databaseUrl: string | null;
  /** Standbys for lists, searches, statistics and exports; `null` for none. */
  readonly readUrl: string | null;
  /** How old what a standby shows may be. */
  readonly readLagMs: number;
  readonly databasePool: number;
  readonly dataDir: string;
  /** Encrypts stored credentials; if `null`, the embedded database's directory holds one. */
  readonly secret: string | null;
  readonly migrate: 'auto' | 'manual';
  readonly owner: { readonly email: string | null; readonly password: string | null };
  /** Concurrent executions of a process that runs a worker. */
  readonly slots: number;
  /** What this process holds for readers of streams that have not read it. */
  readonly streamBytes: number;
  readonly executionBytes: number;
  readonly bodyBytes: number;
  /** The largest body of a call: execute, the start of a workflow, `/v1` and `/mcp`. */
  readonly callBodyBytes: number;
  /** Concurrent calls of one process to one provider with one credential. */
  readonly providerCalls: number;
  readonly leaseMs: number;
  /** How long executions may continue after a shutdown signal. */
  readonly drainMs: number;
  /** The limits that the Testing stage caps agents at. */
  readonly testingLimits: RateLimits;
  readonly listPerMinute: number;
  /** Whether an index of words serves searches. */
  readonly searchIndex: boolean;
  /** Management calls of a key or user to this process. */
  readonly managePerMinute: number;
  /** What the batches of a workspace may keep in the database before it runs. */
  readonly batchStorage: BatchStorageLimits;
  /** Events accepted per webhook and minute. */
  readonly webhookPerMinute: number;
  /** IP addresses and CIDR ranges whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  /** Private hosts (`host` or `host:port`) that a workspace's provider may have. */
  readonly allowedHosts: readonly string[];
  /** Workspaces that may use the server's own cloud identity. */
  readonly chainWorkspaces: readonly string[];
  /** The token that `/metrics` requires unless the client is local. */
  readonly metricsToken: string | null;
  readonly logLevel: LogLevel;
  readonly otlpEndpoint: string | null;
  /** How to send e-mail; null if it is not sent. */
  readonly smtp: { readonly url: string; readonly from: string } | null;
  /** Single sign-on, if configured. */
  readonly signIn: {
    readonly github: ClientCredentials | null;
    readonly google: ClientCredentials | null;
    readonly oidc: (ClientCredentials & { readonly issuer: string }) | null;
  };
  /** The server URL and API key that client commands use. */
  readonly client: { readonly url: string | null; readonly apiKey: string | null };
  /** The usual variables of the model providers. */
  readonly providerEnv: ProviderEnv;
  /** For calls to model and identity providers and for traces. */
  readonly proxies: ProxySettings;
  /** Probable mistakes that do not prevent a start. */
  readonly warnings: readonly string[];
}

export interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * Reads and validates the environment. An empty variable counts as absent. A secret may be in a file: `NAME_FILE`.
 * @throws {ConfigError} that lists every problem
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const read = reader(env);
  const testing = read.text('CUELINE_TESTING_LIMITS', limitsForm) ?? '10/500/10000';
  const [perMinute = 0, perHour = 0, perDay = 0] = testing.split('/').map(Number);
  const config: Omit<Config, 'warnings'> = {
    port: read.number('PORT', 4000, 0, 65_535),
    portGiven: read.text('PORT') !== null,
    host: read.text('HOST', hostForm) ?? '127.0.0.1',
    publicUrl: read.text('CUELINE_PUBLIC_URL', baseURLForm),
    databaseUrl: read.text('DATABASE_URL', databaseForm),
    readUrl: read.text('DATABASE_READ_URL', standbyForm),
    readLagMs: read.number('CUELINE_READ_LAG_MS', 5_000, 500, 600_000),
    databasePool: read.number('CUELINE_DATABASE_POOL', 10, 1, 200),
    dataDir: read.text('CUELINE_DATA_DIR') ?? '.cueline',
    secret: read.text('CUELINE_SECRET', secretForm),
    migrate: read.choice('CUELINE_MIGRATE', ['auto', 'manual'], 'auto'),
    owner: {
      email: read.text('CUELINE_OWNER_EMAIL', emailForm),
      password: read.text('CUELINE_OWNER_PASSWORD', passwordForm),
    },
    slots: read.number('CUELINE_SLOTS', 500, 1, 20_000),
    streamBytes: read.number('CUELINE_STREAM_BYTES', 134_217_728, 16_777_216, 2 ** 40),
    bodyBytes: read.number('CUELINE_BODY_BYTES', 50_331_648, 4_194_304, 2 ** 40),
    callBodyBytes: read.number('CUELINE_CALL_BODY_BYTES', 33_554_432, 1_048_576, 268_435_456),
    executionBytes: read.number('CUELINE_EXECUTION_BYTES', 100_663_296, 33_554_432, 2 ** 40),
    providerCalls: read.number('CUELINE_PROVIDER_CALLS', 20_000, 1, 20_000),
    leaseMs: read.number('CUELINE_LEASE_MS', 6_000, 600, 60_000),
    drainMs: read.number('CUELINE_DRAIN_MS', 30_000, 0, 3_600_000),
    testingLimits: {
      requestsPerMinute: perMinute,
      requestsPerHour: perHour,
      requestsPerDay: perDay,
    },
    listPerMinute: read.number('CUELINE_LIST_PER_MINUTE', 300, 1, 1_000_000),
    searchIndex: read.choice('CUELINE_SEARCH_INDEX', ['on', 'off'], 'on') === 'on',
    managePerMinute: read.number('CUELINE_MANAGE_PER_MINUTE', 600, 1, 1_000_000),
    batchStorage: {
      linesMax: read.number('CUELINE_BATCH_WAITING_LINES', 200_000, 1, 10_000_000),
      bytesMax: read.number('CUELINE_BATCH_WAITING_BYTES', 268_435_456, 1, 1_099_511_627_776),
    },
    webhookPerMinute: read.number('CUELINE_WEBHOOK_PER_MINUTE', 600, 1, 1_000_000),
    trustedProxies: read.list('CUELINE_TRUSTED_PROXIES', rangeForm),
    allowedHosts: read.list('CUELINE_ALLOWED_HOSTS', allowedHostForm),
    chainWorkspaces: read.list('CUELINE_CHAIN_WORKSPACES', workspaceForm),
    metricsToken: read.text('CUELINE_METRICS_TOKEN', tokenForm),
    logLevel: read.choice('CUELINE_LOG_LEVEL', logLevels, 'info'),
    otlpEndpoint: read.text('OTEL_EXPORTER_OTLP_ENDPOINT', urlForm),
    smtp: smtp(read),
    signIn: signIn(read),
    client: {
      url: read.text('CUELINE_URL', baseURLForm),
      apiKey: read.text('CUELINE_KEY', credentialForm),
    },
    providerEnv: providerEnv(read),
    proxies: proxies(read),
  };
  read.refuseIfWrong();
  if (config.readUrl !== null && config.databaseUrl === null) {
    throw new ConfigError(['DATABASE_URL is missing: the embedded database has no standby.']);
  }
  return freeze({ ...config, warnings: read.unknown() });
}

/**
 * Throws unless a secret is set or the data directory can hold one. With an external database there is no such
 * directory, and two processes with different secrets could not open each other's sealed credentials.
 */
export function requireSecret(config: Config): void {
  if (config.databaseUrl === null || config.secret !== null) return;
  throw new ConfigError([
    'CUELINE_SECRET is missing: with DATABASE_URL it must be set, to the same text for every process ' +
      `(${secretForm.allowed}; \`openssl rand -base64 32\` makes one).`,
  ]);
}

function smtp(read: Reader): Config['smtp'] {
  const group = read.group('CUELINE_SMTP_', { url: ['URL', smtpForm], from: ['FROM', senderForm] });
  if (group) read.require('CUELINE_PUBLIC_URL', 'links in e-mails need it');
  return group;
}

function signIn(read: Reader): Config['signIn'] {
  const client = {
    clientId: ['CLIENT_ID', credentialForm],
    clientSecret: ['CLIENT_SECRET', credentialForm],
  } satisfies Record<string, [string, Form]>;
  const providers = {
    github: read.group('CUELINE_GITHUB_', client),
    google: read.group('CUELINE_GOOGLE_', client),
    oidc: read.group('CUELINE_OIDC_', { issuer: ['ISSUER', urlForm], ...client }),
  };
  if (Object.values(providers).some((provider) => provider !== null)) {
    const why = 'an identity provider must know where to send browsers back to';
    read.require('CUELINE_PUBLIC_URL', why);
  }
  return providers;
}

function providerEnv(read: Reader): ProviderEnv {
  const entries = providerVariables.map((name) => [name, read.text(name, providerForm)]);
  return Object.fromEntries(entries.filter(([, value]) => value !== null));
}

/** The lower-case name precedes. Like undici, https calls use the http proxy if they have none of their own. */
function proxies(read: Reader): ProxySettings {
  const http = read.text('http_proxy', proxyForm) ?? read.text('HTTP_PROXY', proxyForm);
  const https = read.text('https_proxy', proxyForm) ?? read.text('HTTPS_PROXY', proxyForm);
  const noProxy = read.text('no_proxy') ?? read.text('NO_PROXY') ?? '';
  return { http, https: https ?? http, noProxy };
}

function freeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) if (inner && typeof inner === 'object') freeze(inner);
  return Object.freeze(value);
}
