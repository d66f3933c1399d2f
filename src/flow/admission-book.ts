import { createHash } from 'node:crypto';
import type { AgentAtAdmission, Caller, Decision, Facts, MonthCount } from '../core/admission.ts';
import type { EndStatus } from '../core/execution.ts';
import type { RunFailureCode } from '../core/failure.ts';
import { uuid7 } from '../core/id.ts';
import { type Counts, noLimits, type RateLimits } from '../core/limits.ts';
import { keyRights } from '../core/member.ts';
import type { Run, Slots } from '../core/run.ts';
import { effective, runSettings } from '../core/settings.ts';
import type { Tally } from '../core/statistics.ts';
import { variablesDigestInput } from '../core/variables.ts';
import type { AdmissionState, AgentRow, KeyRow } from '../store/admission-read.ts';
import type {
  AdmissionWrites,
  NewExecution,
  NewIdempotency,
  NewRefusal,
  NewRun,
} from '../store/admission-write.ts';
import type { ExecuteCall } from './admit.ts';

/**
 * The book of one admission batch: what was read, turned into the words of the core; what the calls before this one
 * have changed; and at the end everything that is to be written.
 */

/** Refusals that become records for each caller, agent, status and hour; the rest are only counted. */
const refusalRecordsMax = 60;
const hourMs = 3_600_000;

type Accepted = Extract<Decision, { kind: 'accepted' }>;

interface Replay {
  readonly digest: Buffer;
  readonly executionId: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly ignoredVariables: readonly string[];
}

interface BookParts {
  readonly testingLimits: RateLimits;
  readonly slots: Slots | null;
  readonly worker: string | null;
}

export function admissionBook(state: AdmissionState, parts: BookParts) {
  const { nowMs } = state;
  const keys = new Map(state.keys.map((row) => [row.hash.toString('hex'), callerOfKey(row)]));
  const agents = new Map(state.agents.map((row) => [row.id, agentOfRow(row)]));
  const months = new Map<string, MonthCount>();
  const tags = new Map<string, number>();
  for (const row of state.workspaces) {
    months.set(row.id, {
      actionsPerMonth: row.actions_per_month,
      month: row.month,
      used: row.month_used,
    });
    // Virtual time runs with the clock while nothing waits, so a later backlog never gets an older tag.
    tags.set(row.id, Math.max(state.floor ?? nowMs * 1000, row.last_tag ?? 0));
  }
  const slotsUsed = new Map(state.agents.map((row) => [row.id, row.slots_used ?? 0]));
  const recorded = new Map(
    state.refusals.map((row) => [`${row.caller} ${row.agent_id} ${row.status}`, { ...row }]),
  );
  const replays = new Map<string, Replay>(
    state.replays.map((row) => [
      `${row.caller} ${row.agent_id} ${row.key}`,
      {
        ...{ digest: row.digest, executionId: row.execution_id, agentId: row.agent_id },
        ...{ agentName: row.agent_name, ignoredVariables: row.ignored_variables },
      },
    ]),
  );
  let waiting = state.floor !== null;

  const counts = new Map<string, Counts>();
  const spentMonths = new Set<string>();
  const executions: NewExecution[] = [];
  const runs: NewRun[] = [];
  const idempotency: NewIdempotency[] = [];
  const refusals = new Map<string, NewRefusal>();
  const tallies: Tally[] = [];
  const born: Run[] = [];

  return {
    callerOf(credential: ExecuteCall['credential']): Caller | null {
      if (credential.kind === 'session') return credential.caller;
      return keys.get(credential.hash.toString('hex')) ?? null;
    },

    agentOf(agentId: string, caller: Caller): AgentAtAdmission | null {
      const agent = agents.get(agentId);
      return agent && agent.workspaceId === caller.workspaceId ? agent : null;
    },

    replayOf(call: ExecuteCall, caller: Caller): Replay | null {
      if (call.idempotencyKey === null || call.agentId === null) return null;
      return replays.get(`${caller.id} ${call.agentId} ${call.idempotencyKey}`) ?? null;
    },

    facts(
      call: ExecuteCall,
      caller: Caller,
      agent: AgentAtAdmission | null,
      replay: Replay | null,
    ): Facts {
      const callerCounts = caller.kind === 'key' ? (state.counts.get(caller.id) ?? null) : null;
      const agentCounts = agent ? (state.counts.get(agent.id) ?? null) : null;
      // Written whether or not this call spends them: cheaper to write a row unchanged than to track it.
      if (callerCounts) counts.set(caller.id, callerCounts);
      if (agent && agentCounts) counts.set(agent.id, agentCounts);
      return {
        ...{ nowMs, caller, callerCounts, agent, agentCounts, body: call.body },
        month: months.get(caller.workspaceId) ?? { actionsPerMonth: 0, month: 0, used: 0 },
        testingLimits: parts.testingLimits,
        replay: replay && { sameBody: replay.digest.equals(digestOf(call)) },
      };
    },

    accept(call: ExecuteCall, caller: Caller, decision: Accepted): string {
      const { agent, variables, model } = decision;
      const id = uuid7(nowMs);
      const settings = runSettings(agent.config, agent.version, agent.defaults);
      const { temperature } = effective(agent.config, agent.version);
      const used = slotsUsed.get(agent.id) ?? 0;
      const holdsSlot = settings.maxConcurrency === null ? null : used < settings.maxConcurrency;
      if (holdsSlot) slotsUsed.set(agent.id, used + 1);
      const mayBeBorn = !waiting && holdsSlot !== false && state.workerHolds;
      const worker = mayBeBorn && parts.slots?.reserve(caller.workspaceId) ? parts.worker : null;
      if (worker === null && holdsSlot !== false) waiting = true;
      const tag = (tags.get(caller.workspaceId) ?? 0) + 1;
      tags.set(caller.workspaceId, tag);
      spentMonths.add(caller.workspaceId);
      executions.push({
        ...recordOf(call, caller, agent, id),
        ...{ status: 'processing', model, temperature, settings, inputVariables: variables.json },
      });
      runs.push({ id, workspaceId: caller.workspaceId, agentId: agent.id, tag, worker, holdsSlot });
      if (worker !== null) {
        born.push({
          ...{
            id,
            workspaceId: caller.workspaceId,
            agentId: agent.id,
            worker,
            settings,
            model,
            temperature,
          },
          ...{ attempt: 1, failures: 0, losses: 0, elapsedMs: 0 },
          ...{ promptVersionId: agent.versionId, inputVariables: variables.json },
        });
      }
      if (call.idempotencyKey !== null) remember(call, caller, decision, id);
      return id;
    },

    refuse(
      call: ExecuteCall,
      caller: Caller,
      agent: AgentAtAdmission,
      record: { status: EndStatus; errorCode: RunFailureCode },
      message: string,
    ): void {
      const name = `${caller.id} ${agent.id} ${record.status}`;
      const hour = Math.floor(nowMs / hourMs);
      const before = recorded.get(name);
      const count = before && before.hour >= hour ? before.recorded : 0;
      const kept = count < refusalRecordsMax;
      if (kept) {
        const row = {
          caller: caller.id,
          agentId: agent.id,
          status: record.status,
          hour,
          recorded: count + 1,
        };
        refusals.set(name, row);
        recorded.set(name, { ...row, agent_id: agent.id });
        executions.push({
          ...recordOf(call, caller, agent, uuid7(nowMs)),
          ...{ status: record.status, errorCode: record.errorCode, error: message },
        });
      }
      tallies.push({
        ...{
          agentId: agent.id,
          executedAtMs: nowMs,
          status: record.status,
          source: sourceOf(caller),
        },
        ...{ recorded: kept, inputTokens: 0, outputTokens: 0, costUsd: '0', latencyMs: null },
      });
    },

    /** Everything that is to be written, and the runs that start here once it is. */
    close(): { writes: AdmissionWrites; born: Run[] } {
      const spent = [...spentMonths].map((workspaceId) => {
        const { month, used } = months.get(workspaceId) ?? { month: 0, used: 0 };
        return { workspaceId, month, used };
      });
      return {
        writes: {
          ...{ counts, months: spent, executions, runs, idempotency, tallies },
          refusals: [...refusals.values()],
        },
        born,
      };
    },
  };

  function remember(
    call: ExecuteCall,
    caller: Caller,
    decision: Accepted,
    executionId: string,
  ): void {
    const { agent, ignoredVariables } = decision;
    const key = call.idempotencyKey ?? '';
    const digest = digestOf(call);
    const first = {
      digest,
      executionId,
      agentId: agent.id,
      agentName: agent.name,
      ignoredVariables,
    };
    replays.set(`${caller.id} ${agent.id} ${key}`, first);
    idempotency.push({ ...first, caller: caller.id, key, createdAtMs: nowMs });
  }

  function recordOf(
    call: ExecuteCall,
    caller: Caller,
    agent: AgentAtAdmission,
    id: string,
  ): NewExecution {
    const settings = effective(agent.config, agent.version);
    return {
      ...{ id, workspaceId: caller.workspaceId, agentId: agent.id, agentName: agent.name },
      ...{ promptVersionId: agent.versionId, promptVersionLabel: agent.versionLabel },
      apiKeyId: caller.kind === 'key' ? caller.id : null,
      ...{ executedBy: caller.userId, executedAtMs: nowMs, source: sourceOf(caller) },
      ...{ status: 'processing', model: settings.model ?? '', temperature: settings.temperature },
      ...{ errorCode: null, error: null, inputVariables: null, settings: null },
      ...{ ipAddress: call.ipAddress, userAgent: call.userAgent },
    };
  }
}

function sourceOf(caller: Caller): 'api' | 'dashboard' {
  return caller.kind === 'key' ? 'api' : 'dashboard';
}

/** A body that has no variables is compared as such: it can only be the same as another broken one. */
function digestOf(call: ExecuteCall): Buffer {
  const text =
    call.body.kind === 'variables' ? variablesDigestInput(call.body.variables) : call.body.kind;
  return createHash('sha256').update(text).digest();
}

function callerOfKey(row: KeyRow): Caller {
  return {
    ...{
      kind: 'key',
      id: row.id,
      workspaceId: row.workspace_id,
      userId: row.issued_by,
      role: row.role,
    },
    rights: row.role === null ? [] : keyRights(row.permissions, row.role),
    ...{ ended: row.ended, allAgents: row.all_agents, agentIds: row.agent_ids },
    ...{ limits: limitsOf(row), allowedOrigins: row.allowed_origins },
  };
}

function agentOfRow(row: AgentRow): AgentAtAdmission {
  return {
    ...{ id: row.id, workspaceId: row.workspace_id, name: row.name, stage: row.stage },
    ...{ archived: row.archived, apiEnabled: row.api_enabled, visibility: row.visibility },
    ...{ createdBy: row.created_by, limits: limitsOf(row), config: row.config },
    ...{ requiredVariables: row.required_variables, optionalVariables: row.optional_variables },
    defaults: JSON.parse(row.defaults) as Record<string, unknown>,
    ...{ allowedOrigins: row.allowed_origins, versionId: row.version_id },
    ...{ versionLabel: row.version_label, version: row.version },
  };
}

function limitsOf(row: KeyRow | AgentRow): RateLimits {
  const { requests_per_minute, requests_per_hour, requests_per_day } = row;
  if (requests_per_minute === null && requests_per_hour === null && requests_per_day === null)
    return noLimits;
  return {
    requestsPerMinute: requests_per_minute,
    requestsPerHour: requests_per_hour,
    requestsPerDay: requests_per_day,
  };
}
