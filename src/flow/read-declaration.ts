import type { Caller } from '../core/admission.ts';
import {
  type DeclaredAgent,
  type DeclaredWorkflow,
  declareAgent,
  declareDefinition,
} from '../core/declaration.ts';
import { fromId } from '../core/id.ts';
import { type AgentRow, findAgents, listVisibleAgents } from '../store/agents.ts';
import type { Db } from '../store/db.ts';
import { namedPrompts, namedWorkflows, versionsToDeclare } from '../store/declaration.ts';
import { inSnapshot } from '../store/history.ts';
import type { VersionRow } from '../store/versions.ts';

/** What is there, as it would be declared, in one snapshot. */

export interface ReadDeclaration {
  readonly declaration: {
    readonly prompts: readonly object[];
    readonly agents: readonly DeclaredAgent[];
    readonly workflows: readonly DeclaredWorkflow[];
  };
  /** Names that several things of a kind have. */
  readonly ambiguous: readonly string[];
}

export function readDeclaration(db: Db, caller: Caller): Promise<ReadDeclaration> {
  return inSnapshot(db, async (trx) => {
    const ambiguous = new Set<string>();
    const seen = await findAgents(trx, caller, await listVisibleAgents(trx, caller));
    const agents = oldest(seen.filter(({ archived }) => !archived).sort(byId), ambiguous);
    const pinned = new Set(agents.map(({ promptId }) => promptId));
    const all = await namedPrompts(trx, caller.workspaceId, null);
    const prompts = oldest(
      all.filter(({ id, archived }) => pinned.has(id) || (!archived && caller.allAgents)),
      ambiguous,
    );
    const versionIds = agents.map(({ promptVersionId }) => promptVersionId);
    const promptIds = prompts.map(({ id }) => id);
    const versions = await versionsToDeclare(trx, promptIds, versionIds);
    const names = new Map(prompts.map(({ id, name }) => [id, name]));
    const byVersion = new Map(versions.map((version) => [version.id, version]));
    const declared = agents.flatMap((agent) => {
      const version = byVersion.get(agent.promptVersionId);
      const prompt = names.get(agent.promptId);
      return version && prompt !== undefined ? [declareAgent(agent, { prompt, version })] : [];
    });
    const agentNames = new Map(seen.map(({ id, name }) => [id, name]));
    const nameOf = (id: string) => agentNames.get(fromId('agent', id) ?? '') ?? id;
    const workflows = (await namedWorkflows(trx, caller, null)).map((row) => ({
      name: row.name,
      ...(row.description !== null && { description: row.description }),
      ...(!row.enabled && { enabled: false }),
      ...declareDefinition(row.definition, nameOf),
    }));
    const declaration = {
      prompts: prompts.map((prompt) => ({
        name: prompt.name,
        ...(prompt.description !== null && { description: prompt.description }),
        versions: versions.filter(({ promptId }) => promptId === prompt.id).map(declareVersion),
      })),
      agents: declared,
      workflows,
    };
    return { declaration, ambiguous: [...ambiguous] };
  });
}

/** Of each name the first. */
function oldest<Row extends { readonly name: string }>(
  rows: readonly Row[],
  ambiguous: Set<string>,
): Row[] {
  const names = new Set<string>();
  return rows.filter(({ name }) => {
    if (names.has(name)) ambiguous.add(name);
    return names.size < names.add(name).size;
  });
}

function byId(one: AgentRow, other: AgentRow): number {
  return one.id < other.id ? -1 : 1;
}

function declareVersion(version: VersionRow): object {
  const { label, system, user, model, temperature, maxTokens, topP, notes } = version;
  const given = { label, system, user, model, temperature, maxTokens, topP, notes };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}
