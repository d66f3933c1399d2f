import {
  type AgentChange,
  type AgentSettings,
  defaultSettings,
  newSettings,
  type PinnedVersion,
  requireFit,
} from '../../../core/agent/agent-settings.ts';
import { CallFailure, requireFound } from '../../../core/failure.ts';
import { uuid7 } from '../../../core/id.ts';
import type { Caller } from '../../../core/people/caller.ts';
import { readClock } from '../../../db/clock.ts';
import type { Db } from '../../../db/database.ts';
import { requireBoundedAgent } from '../../../engine/budgets/require-bounded.ts';
import { auditChange } from '../../people/verbs/audit-change.ts';
import { lockPromptShared } from '../../prompts/statements/prompts.ts';
import { findVersionSummary } from '../../prompts/statements/versions.ts';
import { insertAgent } from '../statements/agent-writes.ts';
import { type AgentRow, readAgent } from '../statements/agents.ts';
import { refuseUnlessOwner } from './change-agent.ts';
import { pinVersion } from './pin-version.ts';
import { takeSlug, withSlugs } from './take-slug.ts';
import { requireVersionAliases } from './version-aliases.ts';

export interface AgentInput extends AgentChange {
  /** A new id unless given. */
  readonly id?: string;
  readonly name: string;
  readonly promptId: string;
  readonly promptVersionId: string;
}

/**
 * Creates a Draft with its limit row and first pin in one transaction.
 * @param isStep of a declaration, which checks that limits of cost hold for its result
 */
export async function createAgent(
  db: Db,
  caller: Caller,
  { id: given, promptId, promptVersionId, ...settings }: AgentInput,
  isStep = false,
): Promise<AgentRow> {
  return withSlugs(db, caller.workspaceId, async (trx) => {
    const prompt = requireFound(await lockPromptShared(trx, caller, promptId), 'prompt');
    const found = await findVersionSummary(trx, promptId, promptVersionId);
    const version = requireFound(found, 'version', 'prompt');
    const fitting = settingsOfNew(caller, settings, prompt, version);

    const { workspaceId, userId } = caller;
    if (!isStep) {
      await requireBoundedAgent(trx, workspaceId, { ...fitting, id: null }, version);
    }
    const id = given ?? uuid7(await readClock(trx));
    const pin = { promptVersionId: version.id };
    const origin = { id, workspaceId, promptId, createdBy: userId };
    await insertAgent(trx, { ...origin, ...pin, settings: fitting });
    const { slug, name, aliases, versionAliases } = fitting;
    await requireVersionAliases(trx, promptId, versionAliases);
    await takeSlug(trx, { kind: 'agent', id, workspaceId }, { slug: slug || null, name, aliases });
    await pinVersion(trx, 'agent', { ownerId: id, versionId: version.id, pinnedBy: userId });
    await auditChange(trx, caller, 'agent.create', id, { agentName: fitting.name });
    return readAgent(trx, id);
  });
}

/** The settings of a new agent; throws if they are not allowed. */
export function settingsOfNew(
  caller: Caller,
  settings: AgentChange & { readonly name: string },
  prompt: { readonly archived: boolean },
  version: PinnedVersion,
): AgentSettings {
  if (prompt.archived) throw new CallFailure('CONFLICT', 'The prompt is archived.');
  const fitting = newSettings(settings, version);
  requireFit(fitting, version);
  refuseUnlessOwner(caller, defaultSettings, fitting);
  return fitting;
}
