import { invalidRequest } from '../../core/failure.ts';
import { uuid7 } from '../../core/id.ts';
import {
  baseOf,
  credentialOf,
  hasOrganization,
  isCredential,
  isProviderName,
  needsBaseURL,
  type ProviderKind,
  sealExtrasOwner,
  sealOwner,
} from '../../core/model/provider.ts';
import {
  extraNames,
  findExtrasProblem,
  hasExtras,
  type RequestExtras,
} from '../../core/model/request-extras.ts';
import type { Actor } from '../../core/people/audit.ts';
import { seal } from '../../core/seal.ts';
import { readClock } from '../../store/connection/clock.ts';
import type { Db } from '../../store/connection/database.ts';
import { writeAudit } from '../../store/people/audit.ts';
import * as store from '../../store/people/providers.ts';

export interface ProviderInput {
  readonly actor: Actor;
  readonly name: string;
  readonly kind: ProviderKind;
  readonly apiKey: string | null;
  readonly baseURL: string | null;
  readonly extras: RequestExtras;
  readonly organization: string | null;
  readonly project: string | null;
}

export interface PutProviderDeps {
  readonly db: Db;
  /** From `deriveSealKey`. */
  readonly sealKey: Buffer;
  /** The public reason to reject a base URL; null if it is allowed. */
  readonly checkBaseURL: (baseURL: string) => Promise<string | null>;
}

/** Replaces the configuration of a provider. Credential and extras are stored encrypted and never shown again. */
export async function putProvider(
  { db, sealKey, checkBaseURL }: PutProviderDeps,
  given: ProviderInput,
): Promise<store.ProviderRow> {
  const input = {
    ...given,
    apiKey: given.apiKey && credentialOf(given.apiKey),
    baseURL: given.baseURL && baseOf(given.baseURL),
  };
  const { actor, name, kind, apiKey, baseURL, extras, organization, project } = input;
  const { workspaceId } = actor;
  const problem = findProblem(input) ?? (baseURL === null ? null : await checkBaseURL(baseURL));
  if (problem) throw invalidRequest(problem);
  const id = uuid7(await readClock(db));
  const identity = { workspaceId, id };
  const sealedApiKey = apiKey === null ? null : seal(sealKey, apiKey, sealOwner(identity));
  const sealedExtras = hasExtras(extras)
    ? seal(sealKey, JSON.stringify(extras), sealExtrasOwner(identity))
    : null;
  const names = extraNames(extras);
  return db.transaction().execute(async (trx) => {
    const row = await store.putProvider(trx, {
      ...{ workspaceId, name, kind, id, sealedApiKey, baseURL, sealedExtras },
      ...names,
      ...{ organization, project },
    });
    const changed = Object.entries({ ...names, organization, project }).filter(
      ([, value]) => value !== null && value.length > 0,
    );
    const details = { kind, baseURL, ...Object.fromEntries(changed) };
    await writeAudit(trx, actor, { action: 'provider.put', subject: name, details });
    return row;
  });
}

/** False if there is none with that name. */
export async function deleteProvider(db: Db, actor: Actor, name: string): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const deleted = await store.deleteProvider(trx, actor.workspaceId, name);
    if (deleted) await writeAudit(trx, actor, { action: 'provider.delete', subject: name });
    return deleted;
  });
}

function findProblem(input: ProviderInput): string | null {
  const { name, kind, apiKey, baseURL, extras, organization, project } = input;
  if (!isProviderName(name)) {
    return 'The name must have 1 to 64 letters, digits, dots, dashes and underscores, begin with a letter or digit, and not be "cueline".';
  }
  if (apiKey !== null && !isCredential(apiKey)) {
    return 'Field "apiKey" must be printable ASCII, without leading or trailing spaces.';
  }
  if (baseURL === null && needsBaseURL(kind)) {
    return `Field "baseURL" is missing. Providers of kind ${kind} require it.`;
  }
  for (const [field, value] of Object.entries({ organization, project })) {
    if (value === null) continue;
    if (!hasOrganization(kind)) return `Field "${field}" does not apply to kind ${kind}.`;
    if (!isCredential(value)) {
      return `Field "${field}" must be printable ASCII, without leading or trailing spaces.`;
    }
  }
  return findExtrasProblem(input, extras);
}
