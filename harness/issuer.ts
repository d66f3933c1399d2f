import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A small OpenID Connect issuer on a real socket. It signs in the configured user and validates the requests it
 * receives.
 */
export interface Issuer {
  readonly url: string;
  readonly client: { readonly clientId: string; readonly clientSecret: string };
  /** The user who signs in next. */
  person: Person;
  /** The defect of its next ID tokens. */
  defect: 'none' | 'nonce' | 'signature' | 'audience';
  /** Whether it closes connections immediately. */
  down: boolean;
  close(): Promise<void>;
}

export interface Person {
  readonly sub: string;
  readonly email: string;
  readonly email_verified?: boolean;
  readonly name?: string;
}

interface Grant {
  readonly person: Person;
  readonly nonce: string | null;
  readonly challenge: string | null;
  readonly redirectUri: string | null;
}

export async function startIssuer({ down = false } = {}): Promise<Issuer> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const grants = new Map<string, Grant>();
  const client = { clientId: 'cueline', clientSecret: 'a secret of the issuer' };

  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', issuer.url);
    const json = (value: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    switch (pathname) {
      case '/.well-known/openid-configuration':
        return json(discovery(issuer.url));
      case '/jwks':
        return json({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: '1', alg: 'RS256' }] });
      case '/authorize': {
        const code = randomUUID();
        const redirectUri = searchParams.get('redirect_uri');
        const { person } = issuer;
        const [nonce, challenge] = [searchParams.get('nonce'), searchParams.get('code_challenge')];
        grants.set(code, { person, nonce, challenge, redirectUri });
        const state = searchParams.get('state') ?? '';
        const location = `${redirectUri}?${new URLSearchParams({ code, state })}`;
        return response.writeHead(302, { location }).end();
      }
      case '/token': {
        const params = new URLSearchParams(await textOf(request));
        const grant = grants.get(params.get('code') ?? '');
        grants.delete(params.get('code') ?? '');
        const verifier = createHash('sha256').update(params.get('code_verifier') ?? '');
        const valid =
          grant?.redirectUri === params.get('redirect_uri') &&
          grant?.challenge === verifier.digest('base64url') &&
          isClient(request, params, client);
        if (!grant || !valid) return json({ error: 'invalid_grant' }, 400);
        const id_token = idToken(grant);
        return json({ access_token: 'an access token', token_type: 'Bearer', id_token });
      }
      default:
        return json({ error: 'not_found' }, 404);
    }
  });

  function idToken({ person, nonce }: Grant): string {
    const { defect } = issuer;
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      ...person,
      iss: issuer.url,
      aud: defect === 'audience' ? 'somebody else' : client.clientId,
      nonce: defect === 'nonce' ? 'another' : nonce,
      iat: now,
      exp: now + 3_600,
    };
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const text = `${encode({ alg: 'RS256', kid: '1' })}.${encode(claims)}`;
    const key = defect === 'signature' ? other.privateKey : privateKey;
    return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
  }

  server.on('connection', (socket) => {
    if (issuer.down) socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer: Issuer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    client,
    person: { sub: 'nobody', email: 'nobody@example.com' },
    defect: 'none',
    down,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return issuer;
}

function discovery(url: string) {
  return {
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    jwks_uri: `${url}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  };
}

function isClient(
  { headers }: IncomingMessage,
  params: URLSearchParams,
  { clientId, clientSecret }: Issuer['client'],
): boolean {
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  if (headers.authorization === `Basic ${basic}`) return true;
  return params.get('client_id') === clientId && params.get('client_secret') === clientSecret;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
