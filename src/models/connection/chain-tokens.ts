import { reasonedErrors } from '../../core/failure.ts';
import { ModelFailure } from '../../core/model/model-port.ts';
import { redact } from '../failure/redact.ts';
import type { Connection } from './provider-connection.ts';
import { type AwsKeys, signRequests } from './sign-aws.ts';

/**
 * The server's own credentials for a cloud. Each package is loaded on first use, reads the cloud's usual environment
 * variables, and renews what expires.
 */

/** The same `fetch`, with requests that carry the server's identity. */
export function withChain(fetch: typeof globalThis.fetch, connection: Connection): typeof fetch {
  const { kind, name } = connection;
  if (kind === 'bedrock') {
    return signRequests(fetch, regionOf(connection), () => issued(kind, name, awsKeys));
  }
  const token = kind === 'azure' ? azureToken : googleToken;
  return async (input, init = {}) => {
    const headers = new Headers(init.headers);
    headers.delete('api-key');
    headers.delete('x-goog-api-key');
    headers.set('authorization', `Bearer ${(await issued(kind, name, token)).token}`);
    return fetch(input, { ...init, headers: Object.fromEntries(headers) });
  };
}

/** What the chain issued last for this kind, to be removed from errors. */
export function issuedSecrets({ kind }: Pick<Connection, 'kind'>): string[] {
  return [...(lastIssued.get(kind) ?? [])];
}

const lastIssued = new Map<string, readonly string[]>();

async function issued<T extends object>(
  kind: string,
  name: string,
  issue: () => Promise<T>,
): Promise<T> {
  try {
    const credential = await issue();
    const texts = Object.values(credential).filter((value) => typeof value === 'string');
    lastIssued.set(kind, texts);
    return credential;
  } catch (error) {
    const reason = redact(error instanceof Error ? error.message : String(error), []);
    throw new ModelFailure('PROVIDER_AUTH', `${reasonedErrors.noChain} '${name}': ${reason}`);
  }
}

/** Of the address, else of the server. */
function regionOf({ baseURL, region }: Connection): string {
  const given = /\bbedrock(?:-runtime)?(?:-fips)?\.([a-z0-9-]+)\./.exec(baseURL)?.[1];
  return given ?? region ?? 'us-east-1';
}

let aws: (() => Promise<AwsKeys>) | null = null;

async function awsKeys(): Promise<AwsKeys> {
  const { fromNodeProviderChain } = await import('@aws-sdk/credential-providers');
  aws ??= fromNodeProviderChain();
  const { accessKeyId, secretAccessKey, sessionToken } = await aws();
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}

interface Token {
  readonly token: string;
}

let google: { getAccessToken(): Promise<string | null | undefined> } | null = null;

async function googleToken(): Promise<Token> {
  const { GoogleAuth } = await import('google-auth-library');
  google ??= new GoogleAuth({ scopes: ['https://www.googleapis.com/auth/cloud-platform'] });
  const token = await google.getAccessToken();
  if (!token) throw new Error('no token was issued');
  return { token };
}

let azure: { getToken(scope: string): Promise<Token | null> } | null = null;

async function azureToken(): Promise<Token> {
  const { DefaultAzureCredential } = await import('@azure/identity');
  azure ??= new DefaultAzureCredential();
  const issuedToken = await azure.getToken('https://cognitiveservices.azure.com/.default');
  if (!issuedToken) throw new Error('no token was issued');
  return { token: issuedToken.token };
}
