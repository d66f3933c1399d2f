import type { Caller } from '../core/admission.ts';
import { callable } from '../core/agent.ts';
import { type AgentChange, changeSettings, refuseUnfit } from '../core/agent-settings.ts';
import { CallFailure } from '../core/failure.ts';
import { giveSlots, writeSettings } from '../store/agent-writes.ts';
import { type AgentRow, readAgent } from '../store/agents.ts';
import type { Db } from '../store/db.ts';
import { findVersionSummary } from '../store/versions.ts';
import { withLockedAgent } from './locked-agent.ts';
import { illegalTransition } from './move-agent.ts';
import { pinVersion } from './pin-version.ts';
import { type Precondition, refuseStale } from './precondition.ts';

export interface AgentPatch {
  readonly change: AgentChange;
  /** Another version of the same prompt; null where what was sent is no identifier. */
  readonly promptVersionId?: string | null;
  readonly apiEnabled?: boolean;
}

/** Changes what its owner sets on an agent. What comes out is checked as a whole: old and new must fit together. */
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
    const settings = changeSettings(agent, change);
    refuseUnfit(settings, version);
    if (patch.apiEnabled !== undefined && !callable({ ...agent, apiEnabled: true })) {
      throw illegalTransition(agent, 'Its API access cannot be switched');
    }

    await writeSettings(trx, agent.id, settings, { promptVersionId, apiEnabled });
    if (promptVersionId !== agent.promptVersionId) {
      await pinVersion(trx, { agentId: agent.id, promptVersionId, pinnedBy: caller.userId });
    }
    if (settings.config.maxConcurrency !== agent.config.maxConcurrency) {
      await giveSlots(trx, agent.id);
    }
    return readAgent(trx, agent.id);
  });
}
