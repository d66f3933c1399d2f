import {
  type EndpointSettings,
  endpointsMax,
  isShortened,
  shownURL,
  storedOrigin,
} from '../../../core/event/endpoint.ts';
import { CallFailure, invalidRequest, notFound, requireFound } from '../../../core/failure.ts';
import { toId, uuid7 } from '../../../core/id.ts';
import { sealOwner, sealURLOwner } from '../../../core/model/provider.ts';
import { actorOf } from '../../../core/people/audit.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { seal } from '../../../core/seal.ts';
import { generateWebhookSecret } from '../../../core/standard-webhooks.ts';
import { readClock } from '../../../db/clock.ts';
import { type Db, inTransaction, type Trx } from '../../../db/database.ts';
import { writeEvents } from '../../../engine/complete/events.ts';
import { auditChange } from '../../people/verbs/audit-change.ts';
import { type DeliveryFilter, findDelivery, sendAgain } from '../statements/deliveries.ts';
import * as store from '../statements/endpoints.ts';
import { disableEndpoint } from './disable-endpoint.ts';
import { requireAgents } from './require-agents.ts';

/** Creates, changes and deletes endpoints, rotates their secrets, and sends events again. */

export interface EndpointDeps {
  readonly db: Db;
  /** From `deriveSealKey`. */
  readonly sealKey: Buffer;
  /** The public reason to reject a URL; null if it is allowed. */
  readonly checkEndpointURL: (url: string) => Promise<string | null>;
}

export interface IssuedEndpoint {
  readonly row: store.EndpointRow;
  /** Stored encrypted, so show it now. */
  readonly secret: string;
}

export async function createEndpoint(
  deps: EndpointDeps,
  caller: Caller,
  settings: EndpointSettings,
): Promise<IssuedEndpoint> {
  requireFullData(caller, settings.payload);
  await refuseURL(deps, settings.url);
  refuseShortened(settings.url);
  const { workspaceId, userId: createdBy } = caller;
  return inTransaction(deps.db, async (trx) => {
    await requireAgents(trx, caller, settings.agentIds);
    if ((await store.countEndpoints(trx, workspaceId)) >= endpointsMax) {
      throw new CallFailure('CONFLICT', `A workspace has at most ${endpointsMax} endpoints.`);
    }
    const id = uuid7(await readClock(trx));
    const { secret, sealedSecret } = newSecret(deps, { workspaceId, id });
    const apiKeyId = caller.kind === 'key' ? caller.id : null;
    const origin = { id, workspaceId, sealedSecret, createdBy, apiKeyId };
    const address = sealedAddress(deps, { workspaceId, id }, settings.url);
    await store.insertEndpoint(trx, { ...settings, ...address, ...origin });
    const { url, eventTypes } = settings;
    await auditChange(trx, caller, 'endpoint.create', id, { host: hostOf(url), eventTypes });
    return { row: await requireEndpoint(trx, caller, id), secret };
  });
}

/** An endpoint receives no more than its caller may read. */
function requireFullData({ rights }: Caller, payload: string | undefined): void {
  if (payload !== 'full' || rights.includes('read')) return;
  throw new CallFailure('PERMISSION_DENIED', 'The payload "full" needs the permission "read".');
}

export interface EndpointPatch extends Partial<EndpointSettings> {
  readonly enabled?: boolean;
}

export async function changeEndpoint(
  deps: EndpointDeps,
  caller: Caller,
  id: string,
  { enabled, ...patch }: EndpointPatch,
): Promise<store.EndpointRow> {
  requireFullData(caller, patch.payload);
  await refuseURL(deps, patch.url ?? null);
  if (enabled === true) {
    await requireEndpoint(deps.db, caller, id);
    // As the next round would.
    if (await store.hasEndedKey(deps.db, id)) await disableEndpoint(deps.db, id, 'key_ended');
    // The transaction that enables it then finds little.
    await store.failAllPending(deps.db, id);
  }
  return inTransaction(deps.db, async (trx) => {
    const row = await lockedEndpoint(trx, caller, id);
    const change = withoutShownURL(patch, row);
    // Another address is another reader.
    if (change.url !== undefined) requireFullData(caller, change.payload ?? row.payload);
    await requireAgents(trx, caller, change.agentIds ?? null);
    const fields = Object.keys(change);
    if (fields.length > 0) {
      const { workspaceId } = caller;
      const { url } = change;
      const address = url === undefined ? row : sealedAddress(deps, { workspaceId, id }, url);
      const { url: stored, sealedUrl } = address;
      await store.writeEndpoint(trx, id, { ...row, ...change, url: stored, sealedUrl });
    }
    const isEnabling = enabled === true && !row.enabled;
    if (isEnabling) await enable(trx, caller, row, change.payload);
    if (fields.length > 0 || isEnabling) {
      const details = {
        fields: isEnabling ? [...fields, 'enabled'] : fields,
        ...(change.url !== undefined && { host: hostOf(change.url) }),
      };
      await auditChange(trx, caller, 'endpoint.change', id, details);
    }
    if (enabled === false) await disableEndpoint(trx, id, 'owner', actorOf(caller));
    return requireEndpoint(trx, caller, id);
  });
}

/** An endpoint whose key has ended belongs to the caller who enables it, and acts with their permissions. */
async function enable(
  trx: Trx,
  caller: Caller,
  { id, payload }: store.EndpointRow,
  newPayload: string | undefined,
): Promise<void> {
  await store.failAllPending(trx, id);
  await store.markEnabled(trx, id);
  if (!(await store.hasEndedKey(trx, id))) return;
  requireFullData(caller, newPayload ?? payload);
  const apiKeyId = caller.kind === 'key' ? caller.id : null;
  await store.setEndpointOwner(trx, id, { createdBy: caller.userId, apiKeyId });
}

export async function rotateEndpoint(
  deps: EndpointDeps,
  caller: Caller,
  id: string,
  graceSeconds: number,
): Promise<string> {
  return inTransaction(deps.db, async (trx) => {
    await lockedEndpoint(trx, caller, id);
    const { workspaceId } = caller;
    const { secret, sealedSecret } = newSecret(deps, { workspaceId, id });
    await store.replaceEndpointSecret(trx, id, { sealedSecret, graceSeconds });
    await auditChange(trx, caller, 'endpoint.rotate', id, { graceSeconds });
    return secret;
  });
}

export async function deleteEndpoint(db: Db, caller: Caller, id: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    if (!(await store.deleteEndpoint(trx, caller.workspaceId, id))) throw notFound('endpoint');
    await auditChange(trx, caller, 'endpoint.delete', id, {});
  });
}

/** Writes a `ping` to one endpoint, whatever it subscribes to. */
export async function testEndpoint(db: Db, caller: Caller, id: string): Promise<void> {
  const { workspaceId } = caller;
  await inTransaction(db, async (trx) => {
    await enabledEndpoint(trx, caller, id);
    const atMs = await readClock(trx);
    const data = JSON.stringify({ endpointId: toId('endpoint', id) });
    const of = { subject: id, agentId: null, user: null };
    await auditChange(trx, caller, 'endpoint.test', id, {});
    await writeEvents(trx, [{ workspaceId, type: 'ping', atMs, ...of, data }]);
  });
}

/** Sends an event to an endpoint again, with a new series of attempts. */
export async function resendDelivery(
  db: Db,
  caller: Caller,
  id: string,
  eventId: string,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    await enabledEndpoint(trx, caller, id);
    if (!(await findDelivery(trx, id, eventId))) throw notFound('delivery', 'endpoint');
    await sendAgain(trx, id, { eventId });
    await auditChange(trx, caller, 'endpoint.resend', id, { eventId: toId('event', eventId) });
  });
}

/** The same for all events of a time. Returns how many are sent again. */
export async function replayDeliveries(
  db: Db,
  caller: Caller,
  id: string,
  filter: DeliveryFilter,
): Promise<number> {
  return inTransaction(db, async (trx) => {
    await enabledEndpoint(trx, caller, id);
    const replayed = await sendAgain(trx, id, filter);
    const { state, startMs, endMs } = filter;
    const [startDate, endDate] = [startMs, endMs].map((ms) => ms && new Date(ms).toISOString());
    await auditChange(trx, caller, 'endpoint.replay', id, { state, startDate, endDate, replayed });
    return replayed;
  });
}

async function refuseURL({ checkEndpointURL }: EndpointDeps, url: string | null): Promise<void> {
  const problem = url === null ? null : await checkEndpointURL(url);
  if (problem) throw invalidRequest(`Field "url": ${problem}`);
}

/** A client that sends back what it was shown changes no URL. */
function withoutShownURL(change: EndpointPatch, row: store.EndpointRow): EndpointPatch {
  const { url, ...withoutURL } = change;
  if (url && row.url !== null && url === shownURL(row.url)) return withoutURL;
  refuseShortened(url ?? null);
  return change;
}

function refuseShortened(url: string | null): void {
  if (url === null || !isShortened(url)) return;
  const message =
    'Field "url": "…" is not part of a URL. Send the whole URL, or leave the field out.';
  throw invalidRequest(message);
}

/** What is stored of a URL. */
function sealedAddress(
  { sealKey }: EndpointDeps,
  owner: { readonly workspaceId: string; readonly id: string },
  url: string | null,
): Pick<store.StoredSettings, 'url' | 'sealedUrl'> {
  if (url === null) return { url: null, sealedUrl: null };
  return { url: storedOrigin(url), sealedUrl: seal(sealKey, url, sealURLOwner(owner)) };
}

/** What the audit log has of a URL. */
function hostOf(url: string | null): string | null {
  return url === null ? null : new URL(url).host;
}

async function requireEndpoint(db: Db, caller: Caller, id: string): Promise<store.EndpointRow> {
  return requireFound(await store.findEndpoint(db, caller.workspaceId, id), 'endpoint');
}

async function lockedEndpoint(trx: Trx, caller: Caller, id: string): Promise<store.EndpointRow> {
  return requireFound(await store.lockEndpoint(trx, caller.workspaceId, id), 'endpoint');
}

async function enabledEndpoint(trx: Trx, caller: Caller, id: string): Promise<void> {
  const { enabled } = await lockedEndpoint(trx, caller, id);
  if (enabled) return;
  throw new CallFailure('CONFLICT', 'The endpoint is disabled. Enable it first.');
}

function newSecret({ sealKey }: EndpointDeps, owner: { workspaceId: string; id: string }) {
  const secret = generateWebhookSecret();
  return { secret, sealedSecret: seal(sealKey, secret, sealOwner(owner)) };
}
