import { CallFailure, notFound, requireFound } from '../../../core/failure.ts';
import { uuid7 } from '../../../core/id.ts';
import { sealOwner } from '../../../core/model/provider.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { seal, unseal } from '../../../core/seal.ts';
import {
  generateWebhookSecret,
  isWebhookSecret,
  secretOfText,
} from '../../../core/standard-webhooks.ts';
import { readClock } from '../../../db/clock.ts';
import { type Db, inTransaction } from '../../../db/database.ts';
import { auditChange } from '../../people/verbs/audit-change.ts';
import type { WebhookSignature } from '../rules/webhook.ts';
import * as store from '../statements/webhooks.ts';
import { lockWorkflow } from '../statements/workflows.ts';

/** Creates and deletes inbound webhooks and rotates their secrets. */

export interface IssuedWebhook {
  readonly row: store.WebhookRow;
  /** Stored encrypted, so show it now. */
  readonly secret: string;
}

interface WebhookDeps {
  readonly db: Db;
  /** From `deriveSealKey`. */
  readonly sealKey: Buffer;
}

interface WebhookKey {
  readonly workflowId: string;
  readonly id: string;
}

export interface WebhookInput {
  readonly name: string;
  readonly signature: WebhookSignature;
  /** As its sender has it; a new one if left out. */
  readonly secret?: string | undefined;
}

/** The key of a standard secret is its base64, that of any other its text. */
function storedSecret(signature: WebhookSignature, secret: string): string {
  const isEncoded = signature === 'standard' && isWebhookSecret(secret);
  return isEncoded ? secret : secretOfText(secret);
}

/** Per workflow. */
const webhooksMax = 100;

export async function createWebhook(
  { db, sealKey }: WebhookDeps,
  caller: Caller,
  workflowId: string,
  { name, signature, secret = generateWebhookSecret() }: WebhookInput,
): Promise<IssuedWebhook> {
  return inTransaction(db, async (trx) => {
    const workflow = requireFound(await lockWorkflow(trx, caller, workflowId), 'workflow');
    if ((await store.countWebhooks(trx, workflow.id)) >= webhooksMax) {
      throw new CallFailure('CONFLICT', `A workflow has at most ${webhooksMax} webhooks.`);
    }
    const { workspaceId, userId: createdBy } = caller;
    const id = uuid7(await readClock(trx));
    const stored = storedSecret(signature, secret);
    const sealedSecret = seal(sealKey, stored, sealOwner({ workspaceId, id }));
    const origin = { id, workflowId: workflow.id, workspaceId, createdBy };
    const row = await store.insertWebhook(trx, { ...origin, name, signature, sealedSecret });
    await auditChange(trx, caller, 'webhook.create', id, { name });
    return { row, secret };
  });
}

export async function rotateWebhook(
  { db, sealKey }: WebhookDeps,
  caller: Caller,
  { workflowId, id }: WebhookKey,
  secret = generateWebhookSecret(),
): Promise<IssuedWebhook> {
  return inTransaction(db, async (trx) => {
    const found = requireFound(
      await store.findWebhook(trx, workflowId, id),
      ...(['webhook', 'workflow'] as const),
    );
    const stored = storedSecret(found.signature, secret);
    const sealed = seal(sealKey, stored, sealOwner({ workspaceId: caller.workspaceId, id }));
    const row = await store.replaceSecret(trx, workflowId, id, sealed);
    await auditChange(trx, caller, 'webhook.rotate', id, {});
    return { row: requireFound(row, 'webhook', 'workflow'), secret };
  });
}

export async function deleteWebhook(
  { db }: WebhookDeps,
  caller: Caller,
  { workflowId, id }: WebhookKey,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    if (!(await store.deleteWebhook(trx, workflowId, id))) throw notFound('webhook', 'workflow');
    await auditChange(trx, caller, 'webhook.delete', id, {});
  });
}

/** The secret of a webhook; null if it cannot be decrypted, because the server's secret has changed. */
export function openSecret(sealKey: Buffer, target: store.WebhookTarget): string | null {
  try {
    return unseal(sealKey, target.sealedSecret, sealOwner(target));
  } catch {
    return null;
  }
}
