import { findUnboundedOption } from '../../../core/agent/unbounded-options.ts';
import { CallFailure, invalidRequest } from '../../../core/failure.ts';
import { uuid7 } from '../../../core/id.ts';
import {
  type ChainRules,
  hasChain,
  mayReceiveTokens,
  mayUseChain,
  notForTokens,
} from '../../../core/model/credential-chain.ts';
import {
  baseOf,
  credentialOf,
  hasOrganization,
  isCredential,
  isProviderName,
  needsBaseURL,
  type ProviderAuth,
  type ProviderKind,
  sealExtrasOwner,
  sealOwner,
} from '../../../core/model/provider.ts';
import {
  extraNames,
  findExtrasProblem,
  hasExtras,
  type RequestExtras,
} from '../../../core/model/request-extras.ts';
import type { Actor } from '../../../core/people/audit.ts';
import { seal } from '../../../core/seal.ts';
import { readClock } from '../../../db/clock.ts';
import type { Db } from '../../../db/database.ts';
import { requireBoundedAgents } from '../../../engine/budgets/require-bounded.ts';
import { writeAudit } from '../../people/statements/audit-statements.ts';
import * as store from '../statements/providers.ts';

export interface ProviderInput {
  readonly actor: Actor;
  readonly name: string;
  readonly kind: ProviderKind;
  readonly apiKey: string | null;
  readonly baseURL: string | null;
  readonly extras: RequestExtras;
  readonly organization: string | null;
  readonly project: string | null;
  readonly auth: ProviderAuth | null;
}

export interface PutProviderDeps {
  readonly db: Db;
  /** From `deriveSealKey`. */
  readonly sealKey: Buffer;
  /** The public reason to reject a base URL; null if it is allowed. */
  readonly checkBaseURL: (baseURL: string) => Promise<string | null>;
  readonly chainRules: ChainRules;
}

/** Replaces the configuration of a provider. Credential and extras are stored encrypted and never shown again. */
export async function putProvider(
  { db, sealKey, checkBaseURL, chainRules }: PutProviderDeps,
  given: ProviderInput,
): Promise<store.ProviderRow> {
  const input = {
    ...given,
    apiKey: given.apiKey && credentialOf(given.apiKey),
    baseURL: given.baseURL && baseOf(given.baseURL),
  };
  const { actor, name, kind, apiKey, baseURL, extras, organization, project } = input;
  const { workspaceId } = actor;
  if (input.auth === 'chain' && !mayUseChain(workspaceId, chainRules)) {
    const message =
      "This workspace may not use the server's identity: CUELINE_CHAIN_WORKSPACES does not name it.";
    throw new CallFailure('PERMISSION_DENIED', message);
  }
  const wrong = findProblem(input) ?? findChainProblem(input, chainRules);
  const problem = wrong ?? (baseURL === null ? null : await checkBaseURL(baseURL));
  if (problem) throw invalidRequest(problem);
  const id = uuid7(await readClock(db));
  const identity = { workspaceId, id };
  const sealedApiKey = apiKey === null ? null : seal(sealKey, apiKey, sealOwner(identity));
  const sealedExtras = hasExtras(extras)
    ? seal(sealKey, JSON.stringify(extras), sealExtrasOwner(identity))
    : null;
  const names = extraNames(extras);
  const unboundedOption = findUnboundedOption(extras.bodyExtra);
  return db.transaction(async (trx) => {
    const row = await store.putProvider(trx, {
      workspaceId,
      name,
      kind,
      id,
      sealedApiKey,
      baseURL,
      sealedExtras,
      ...names,
      unboundedOption,
      organization,
      project,
      auth: input.auth,
    });
    if (unboundedOption !== null) await requireBoundedAgents(trx, workspaceId, { provider: name });
    const changed = Object.entries({ ...names, organization, project, auth: input.auth }).filter(
      ([, value]) => value !== null && value.length > 0,
    );
    const details = { kind, baseURL, ...Object.fromEntries(changed) };
    await writeAudit(trx, actor, { action: 'provider.put', subject: name, details });
    return row;
  });
}

/** False if there is none with that name. */
export async function deleteProvider(db: Db, actor: Actor, name: string): Promise<boolean> {
  return db.transaction(async (trx) => {
    const deleted = await store.deleteProvider(trx, actor.workspaceId, name);
    if (deleted) await writeAudit(trx, actor, { action: 'provider.delete', subject: name });
    return deleted;
  });
}

function findChainProblem(
  { auth, kind, apiKey, baseURL, project, extras }: ProviderInput,
  rules: ChainRules,
): string | null {
  if (auth === null) return null;
  if (!hasChain(kind)) return `Field "auth" does not apply to kind ${kind}.`;
  if (apiKey !== null) return 'Fields "auth" and "apiKey" exclude each other.';
  if (Object.keys(extras.headers).some((name) => name.toLowerCase() === 'authorization')) {
    return 'Field "headers.authorization" conflicts with "auth".';
  }
  if (baseURL === null && kind === 'google') {
    const isName = /^[a-z][a-z0-9-]{4,61}[a-z0-9]$/.test(project ?? '');
    return isName
      ? null
      : 'Field "project" must name the Google Cloud project, or "baseURL" the whole address.';
  }
  return baseURL === null || mayReceiveTokens(kind, baseURL, rules) ? null : notForTokens;
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
    if (field === 'project' && kind === 'google' && input.auth === 'chain') continue;
    if (!hasOrganization(kind)) return `Field "${field}" does not apply to kind ${kind}.`;
    if (!isCredential(value)) {
      return `Field "${field}" must be printable ASCII, without leading or trailing spaces.`;
    }
  }
  return findExtrasProblem(input, extras);
}
