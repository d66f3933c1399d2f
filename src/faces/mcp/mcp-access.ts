import { isIP } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { deniedMessage } from '../../core/execution/refusal-messages.ts';
import { CallFailure } from '../../core/failure.ts';
import type { Caller } from '../../core/people/caller.ts';
import { allowOrigin } from '../../http/cors.ts';
import { bearerHash, unauthorized } from '../../http/request/credential.ts';
import { originOf } from '../../http/request/same-origin.ts';
import { errorResponse } from '../../http/response/error-response.ts';
import { send } from '../../http/route.ts';

/** Who may speak MCP: a key with `execute`, and of pages those of this server and of the key's allowed origins. */

export const metadataPath = '/.well-known/oauth-protected-resource';

/** The URL of this server as its clients name it, without a slash at the end. */
export function baseUrlOf(request: FastifyRequest, publicUrl: string | null): string {
  return publicUrl?.replace(/\/$/, '') ?? originOf(request) + request.server.basePath;
}

/** The metadata of RFC 9728. There is no authorization server: people issue keys. */
export function resourceMetadata(baseUrl: string, path: string) {
  return {
    resource: baseUrl + path,
    resource_name: 'Cueline',
    resource_documentation: `${baseUrl}/docs`,
    bearer_methods_supported: ['header'],
    scopes_supported: ['execute'],
  };
}

/** The hash of the key. Rejects a request without one before its body is read. */
export function requireKey(request: FastifyRequest, publicUrl: string | null): string {
  const { origin, authorization } = request.headers;
  if (
    authorization === undefined &&
    origin !== undefined &&
    !isOwnOrigin(request, origin, publicUrl)
  ) {
    throw foreignOrigin();
  }
  const hash = bearerHash(request);
  if (hash === null) throw unauthorized();
  return hash;
}

/**
 * Rejects a page of another origin, unless the key allows it. The `Host` header of a request may be any name that leads here,
 * so beside the public URL only names that nobody can point here count as this server's own: addresses and localhost.
 */
export function checkOrigin(
  request: FastifyRequest,
  reply: FastifyReply,
  caller: Pick<Caller, 'allowedOrigins'> | null,
  publicUrl: string | null,
): void {
  const { origin } = request.headers;
  if (origin === undefined || isOwnOrigin(request, origin, publicUrl)) return;
  if (caller && allowOrigin(request, reply, caller.allowedOrigins)) return;
  throw foreignOrigin();
}

function foreignOrigin(): CallFailure {
  const message = 'No API key of the request allows calls from pages of this origin.';
  return new CallFailure('PERMISSION_DENIED', message);
}

function isOwnOrigin(request: FastifyRequest, origin: string, publicUrl: string | null): boolean {
  if (publicUrl !== null && origin === new URL(publicUrl).origin) return true;
  const { hostname } = request;
  const isFixed = hostname === 'localhost' || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
  return isFixed && origin === originOf(request);
}

/** The refusal of a caller that may not execute; null if it may. */
export function accessFailure(caller: Caller): CallFailure | null {
  if (caller.ended || caller.role === null) return unauthorized();
  if (caller.rights.includes('execute')) return null;
  return new CallFailure('PERMISSION_DENIED', deniedMessage(caller, 'execute'));
}

/** Sends an error that says where the metadata is, and which permission is missing. */
export function sendAccessFailure(
  request: FastifyRequest,
  reply: FastifyReply,
  failure: CallFailure,
  metadataUrl: string,
): void {
  const response = errorResponse(failure, request.id);
  const error = { UNAUTHORIZED: 'invalid_token', PERMISSION_DENIED: 'insufficient_scope' };
  const named = error[failure.code as keyof typeof error];
  if (!named) {
    send(reply, response);
    return;
  }
  // RFC 6750: no error code without credentials.
  const isGiven = request.headers.authorization !== undefined;
  const challenge = [
    ...(isGiven ? [`error="${named}"`] : []),
    'scope="execute"',
    `resource_metadata="${metadataUrl}"`,
  ];
  const headers = { ...response.headers, 'www-authenticate': `Bearer ${challenge.join(', ')}` };
  send(reply, { ...response, headers });
}
