import { switchable } from '../../../core/agent/agent.ts';
import {
  type AgentChange,
  type AgentSettings,
  changeSettings,
  needsOwner,
  type PinnedVersion,
  requireFit,
} from '../../../core/agent/agent-settings.ts';
import type { NewEvent } from '../../../core/event/event.ts';
import { CallFailure, requireFound } from '../../../core/failure.ts';
import { toId } from '../../../core/id.ts';
import { actorOf } from '../../../core/people/audit.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { type Precondition, refuseStale } from '../../../core/precondition.ts';
import type { Db, Trx } from '../../../db/database.ts';
import { requireBoundedAgent } from '../../../engine/budgets/require-bounded.ts';
import { lockFloor } from '../../../engine/complete/retention-floor.ts';
import { writeAudit } from '../../people/statements/audit-statements.ts';
import { auditChange } from '../../people/verbs/audit-change.ts';
import { findVisibleVersion } from '../../prompts/statements/prompts.ts';
import { grantSlots, writeSettings } from '../statements/agent-writes.ts';
import { type AgentRow, readAgent } from '../statements/agents.ts';
import { pinned } from './agent-events.ts';
import { illegalTransition } from './change-stage.ts';
import { withLockedAgent } from './locked-agent.ts';
import { pinVersion } from './pin-version.ts';
import { changeNames, withSlugs } from './take-slug.ts';
import { requireVersionAliases } from './version-aliases.ts';

export interface AgentPatch {
  readonly change: AgentChange;
  /** Another version of the same prompt. */
  readonly promptVersionId?: string;
  readonly apiEnabled?: boolean;
}

/**
 * Changes the settings of an agent. The resulting settings are checked as a whole. A change to the current values does
 * nothing, so an `ETag` stays valid.
 * @param later see `withLockedAgent`
 * @param isStep of a declaration, which checks that limits of cost hold for its result
 */
export async function changeAgent(
  db: Db,
  caller: Caller,
  agentId: string,
  patch: AgentPatch,
  isCurrent: Precondition,
  later?: NewEvent[],
  isStep = false,
): Promise<AgentRow> {
  const { slug, aliases } = patch.change;
  const change = (at: Db) =>
    withLockedAgent(at, caller, agentId, writeChange(caller, patch, isCurrent, isStep), later);
  if (slug === undefined && !aliases) return change(db);
  return withSlugs(db, caller.workspaceId, change);
}

function writeChange(caller: Caller, patch: AgentPatch, isCurrent: Precondition, isStep: boolean) {
  return async (trx: Trx, agent: AgentRow, events: NewEvent[]): Promise<AgentRow> => {
    refuseStale(agent.revision, isCurrent);
    const {
      change,
      promptVersionId = agent.promptVersionId,
      apiEnabled = agent.apiEnabled,
    } = patch;
    const found = await findVisibleVersion(trx, caller, agent.promptId, promptVersionId);
    const isDraft = found?.number === null;
    const version = requireFound(isDraft ? null : found, 'version', 'prompt');
    const settings = changedSettings(caller, agent, change, version);
    if (patch.apiEnabled !== undefined && !switchable(agent)) {
      throw illegalTransition(agent, 'Its API cannot be enabled or disabled');
    }
    const isRepinned = promptVersionId !== agent.promptVersionId;
    if (!isRepinned && apiEnabled === agent.apiEnabled && isSame(agent, settings)) return agent;

    if (!isStep && (change.config || isRepinned)) {
      const next = { ...settings, id: agent.id };
      await requireBoundedAgent(trx, caller.workspaceId, next, version);
    }
    if (change.versionAliases) {
      await requireVersionAliases(trx, agent.promptId, change.versionAliases);
    }
    if (change.retention) await lockFloor(trx);
    await writeSettings(trx, agent.id, settings, { promptVersionId, apiEnabled });
    if (settings.slug !== agent.slug || change.aliases) {
      await changeNames(trx, { id: agent.id, workspaceId: caller.workspaceId }, settings);
    }
    if (isRepinned) {
      await pinVersion(trx, 'agent', {
        ownerId: agent.id,
        versionId: promptVersionId,
        pinnedBy: caller.userId,
      });
      await auditChange(trx, caller, 'agent.pin', agent.id, {
        promptVersionId: toId('version', promptVersionId),
      });
    }
    await auditFields(trx, caller, agent, settings, patch);
    if (settings.config.maxConcurrency !== agent.config.maxConcurrency) {
      await grantSlots(trx, agent.id);
    }
    if (isRepinned) events.push(await pinned(trx, caller, agent, promptVersionId));
    return readAgent(trx, agent.id);
  };
}

/** Compares texts, because the model sees the order of default values. */
function isSame(agent: AgentSettings, settings: AgentSettings): boolean {
  return JSON.stringify(changeSettings(agent, {})) === JSON.stringify(settings);
}

/** The settings after a change; throws if it is not allowed. */
export function changedSettings(
  caller: Caller,
  agent: AgentSettings,
  change: AgentChange,
  version: PinnedVersion,
): AgentSettings {
  const settings = changeSettings(agent, change);
  refuseUnlessOwner(caller, agent, settings);
  requireFit(settings, version);
  return settings;
}

/** Throws if the caller may change the agent, but not its retention. */
export function refuseUnlessOwner(
  caller: Caller,
  before: AgentSettings,
  after: AgentSettings,
): void {
  if (!needsOwner(before, after) || caller.rights.includes('own')) return;
  const message =
    'Only an owner of the workspace may change the retention, or enable the storage of bodies.';
  throw new CallFailure('PERMISSION_DENIED', message);
}

/** Records the names of the changed fields; for the retention also the values. */
async function auditFields(
  trx: Trx,
  caller: Caller,
  agent: AgentRow,
  settings: AgentSettings,
  { change, apiEnabled }: AgentPatch,
): Promise<void> {
  const fields = [...Object.keys(change), ...(apiEnabled === undefined ? [] : ['apiEnabled'])];
  if (fields.length > 0) {
    await auditChange(trx, caller, 'agent.change', agent.id, { fields });
  }
  if (change.retention || change.storeBodies !== undefined) {
    const values = ({ retention, storeBodies }: AgentSettings) => ({ ...retention, storeBodies });
    const details = { from: values(agent), to: values(settings) };
    const subject = toId('agent', agent.id);
    await writeAudit(trx, actorOf(caller), { action: 'retention.change', subject, details });
  }
}
