import { sealExtrasOwner, sealOwner } from '../../../core/model/provider.ts';
import { noExtras, secretsIn } from '../../../core/model/request-extras.ts';
import { seal, unseal } from '../../../core/seal.ts';
import { generateWebhookSecret } from '../../../core/standard-webhooks.ts';
import type { CalledTool } from '../../../core/tools/tool-port.ts';
import type { NewToolServer, SealedHeaders } from '../statements/tool-servers.ts';

/** The secrets of a tool server: headers of its requests, and what signs them. Keys are those of `deriveSealKey`. */

interface Owner {
  readonly workspaceId: string;
  readonly id: string;
}

export function newSigningSecret(sealKey: Buffer, owner: Owner) {
  const secret = generateWebhookSecret();
  return { secret, sealedSecret: seal(sealKey, secret, sealOwner(owner)) };
}

export function sealedHeaders(
  sealKey: Buffer,
  owner: Owner,
  headers: Readonly<Record<string, string>>,
): Pick<NewToolServer, 'headerNames' | 'sealedHeaders'> {
  const headerNames = Object.keys(headers).sort();
  if (headerNames.length === 0) return { headerNames, sealedHeaders: null };
  const sealed = seal(sealKey, JSON.stringify(headers), sealExtrasOwner(owner));
  return { headerNames, sealedHeaders: sealed };
}

export interface OpenedSecrets {
  readonly headers: Readonly<Record<string, string>>;
  /** The current one first. */
  readonly signing: readonly string[];
  /** All texts that no result may contain. */
  readonly all: readonly string[];
}

/** Null if `CUELINE_SECRET` has changed. */
export function openHeaders(sealKey: Buffer, row: SealedHeaders): OpenedSecrets['headers'] | null {
  try {
    return unsealHeaders(sealKey, row);
  } catch {
    return null;
  }
}

function unsealHeaders(sealKey: Buffer, row: SealedHeaders): OpenedSecrets['headers'] {
  const { sealedHeaders: sealed } = row;
  return sealed ? JSON.parse(unseal(sealKey, sealed, sealExtrasOwner(row))) : {};
}

/** Null if `CUELINE_SECRET` has changed. */
export function openSecrets(sealKey: Buffer, called: CalledTool): OpenedSecrets | null {
  const owner = { workspaceId: called.workspaceId, id: called.serverId };
  const { sealedHeaders: sealed, sealedSecret, previousSealedSecret } = called;
  const signingSealed = previousSealedSecret
    ? [sealedSecret, previousSealedSecret]
    : [sealedSecret];
  try {
    const headers = unsealHeaders(sealKey, { ...owner, sealedHeaders: sealed });
    const signing = signingSealed.map((one) => unseal(sealKey, one, sealOwner(owner)));
    const bare = signing.map((secret) => secret.replace(/^whsec_/, ''));
    return { headers, signing, all: [...secretsIn({ ...noExtras, headers }), ...signing, ...bare] };
  } catch {
    return null;
  }
}
