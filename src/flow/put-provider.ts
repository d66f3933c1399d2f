import { CallFailure } from '../core/failure.ts';
import { uuid7 } from '../core/id.ts';
import {
  isCredential,
  isProviderName,
  needsBaseURL,
  type ProviderKind,
  sealOwner,
} from '../core/provider.ts';
import { seal } from '../core/seal.ts';
import { readClock } from '../store/clock.ts';
import type { Db } from '../store/db.ts';
import * as store from '../store/providers.ts';

export interface ProviderInput {
  readonly workspaceId: string;
  readonly name: string;
  readonly kind: ProviderKind;
  readonly apiKey: string | null;
  readonly baseURL: string | null;
}

export interface PutProviderParts {
  readonly db: Db;
  /** From `deriveSealKey`. */
  readonly sealKey: Buffer;
  /** Why a workspace may not have this base URL, as public text; null where it may. */
  readonly checkBaseURL: (baseURL: string) => Promise<string | null>;
}

/** Configures a provider, all of it anew. The credential is stored sealed and never shown again. */
export async function putProvider(
  { db, sealKey, checkBaseURL }: PutProviderParts,
  input: ProviderInput,
): Promise<store.ProviderRow> {
  const { apiKey, baseURL, ...rest } = input;
  const wrong = mistake(input) ?? (baseURL === null ? null : await checkBaseURL(baseURL));
  if (wrong) throw new CallFailure('INVALID_REQUEST', wrong);
  const id = uuid7(await readClock(db));
  const owner = sealOwner({ ...input, id });
  const sealedApiKey = apiKey === null ? null : seal(sealKey, apiKey, owner);
  return store.putProvider(db, { ...rest, id, sealedApiKey, baseURL });
}

function mistake({ name, kind, apiKey, baseURL }: ProviderInput): string | null {
  if (!isProviderName(name)) {
    return 'The name must have 1 to 64 letters, digits, dots, dashes and underscores, begin with a letter or digit, and not be "cueline".';
  }
  if (apiKey !== null && !isCredential(apiKey)) {
    return 'Field "apiKey" must be printable ASCII, without blanks or line breaks around it.';
  }
  if (baseURL === null && needsBaseURL(kind)) {
    return `Field "baseURL" is missing: a provider of kind ${kind} needs it.`;
  }
  return null;
}
