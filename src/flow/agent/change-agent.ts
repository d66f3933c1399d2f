import { switchable } from '../../core/agent/agent.ts';
import {
  type AgentChange,
  type AgentSettings,
  changeSettings,
  needsOwner,
  type PinnedVersion,
  requireFit,
} from '../../core/agent/agent-settings.ts';
import type { Caller } from '../../core/execution/caller.ts';
import { CallFailure } from '../../core/failure.ts';
import { toId } from '../../core/id.ts';
import { actorOf } from '../../core/people/audit.ts';
import { grantSlots, writeSettings } from '../../store/agent/agent-writes.ts';
import { type AgentRow, readAgent } from '../../store/agent/agents.ts';
import { findVersionSummary } from '../../store/agent/versions.ts';
import type { Db, Trx } from '../../store/connection/database.ts';
import { holdFloor } from '../../store/history/retention.ts';
import { writeAudit } from '../../store/people/audit.ts';
import { illegalTransition } from './change-stage.ts';
import { withLockedAgent } from './locked-agent.ts';
import { pinVersion } from './pin-version.ts';
import { type Precondition, refuseStale } from './precondition.ts';

export interface AgentPatch {
  readonly change: AgentChange;
  /** Another version of the same prompt; null where what was sent is no identifier. */
  readonly promptVersionId?: string | null;
  readonly apiEnabled?: boolean;
}

/**
 * Changes what its owner sets on an agent. What comes out is checked as a whole: old and new must fit together. What is so
 * already is left as it is, also for whoever holds an `ETag`.
 */
export async function changeAgent(
  db: Db,
  caller: Caller,
  agentId: string | null,
  patch: AgentPatch,
  isCurrent: Precondition,
): Promise<AgentRow> {
  return withLockedAgent(db, caller, agentId, async (trx, agent) => {
    refuseStale(agent.revision, isCurrent);
    const {
      change,
      promptVersionId = agent.promptVersionId,
      apiEnabled = agent.apiEnabled,
    } = patch;
    const version =
      promptVersionId && (await findVersionSummary(trx, agent.promptId, promptVersionId));
    if (!version) throw new CallFailure('NOT_FOUND', 'The prompt has no such version.');
    const settings = changedSettings(caller, agent, change, version);
    if (patch.apiEnabled !== undefined && !switchable(agent)) {
      throw illegalTransition(agent, 'Its API access cannot be switched');
    }
    const repinned = promptVersionId !== agent.promptVersionId;
    if (!repinned && apiEnabled === agent.apiEnabled && isSame(agent, settings)) return agent;

    if (change.retention) await holdFloor(trx);
    await writeSettings(trx, agent.id, settings, { promptVersionId, apiEnabled });
    if (repinned) {
      await pinVersion(trx, { agentId: agent.id, promptVersionId, pinnedBy: caller.userId });
      await writeAudit(trx, actorOf(caller), {
        action: 'agent.pin',
        subject: toId('agent', agent.id),
        details: { promptVersionId: toId('version', promptVersionId) },
      });
    }
    await auditChange(trx, caller, agent, settings, patch);
    if (settings.config.maxConcurrency !== agent.config.maxConcurrency) {
      await grantSlots(trx, agent.id);
    }
    return readAgent(trx, agent.id);
  });
}

/** To the letter: the order of default values is what the model sees. */
function isSame(agent: AgentSettings, settings: AgentSettings): boolean {
  return JSON.stringify(changeSettings(agent, {})) === JSON.stringify(settings);
}

/** What comes of a change; throws what stands in the way of it. */
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

/** Throws where the caller may change the agent, but not how long its records are kept. */
export function refuseUnlessOwner(
  caller: Caller,
  before: AgentSettings,
  after: AgentSettings,
): void {
  if (!needsOwner(before, after) || caller.rights.includes('own')) return;
  const message =
    'Only an owner of the workspace may change how long records are kept, or have bodies stored again.';
  throw new CallFailure('PERMISSION_DENIED', message);
}

/** Names what was set; of the retention, also from what to what. */
async function auditChange(
  trx: Trx,
  caller: Caller,
  agent: AgentRow,
  settings: AgentSettings,
  { change, apiEnabled }: AgentPatch,
): Promise<void> {
  const subject = toId('agent', agent.id);
  const fields = [...Object.keys(change), ...(apiEnabled === undefined ? [] : ['apiEnabled'])];
  if (fields.length > 0) {
    await writeAudit(trx, actorOf(caller), {
      action: 'agent.change',
      subject,
      details: { fields },
    });
  }
  if (change.retention || change.storeBodies !== undefined) {
    const kept = ({ retention, storeBodies }: AgentSettings) => ({ ...retention, storeBodies });
    const details = { from: kept(agent), to: kept(settings) };
    await writeAudit(trx, actorOf(caller), { action: 'retention.change', subject, details });
  }
}
