import { executionSettings } from '../../core/agent/model-settings.ts';
import { uuid7 } from '../../core/id.ts';
import { randomHex } from '../../core/random.ts';
import { readClock } from '../../db/clock.ts';
import type { Db } from '../../db/database.ts';
import { clockTag } from './admission-batch.ts';
import { rollBackWrites } from './admission-probe.ts';
import type { AcceptedTerms, AdmissionWrites } from './admission-write.ts';

/**
 * Throws if an execution could not be accepted now: the disk is full, or the database is read-only or has another schema.
 * Makes the writes of one accepted call and rolls them back. Its caller, agent and workspace do not exist, so the probe
 * waits for no row lock.
 */
export async function probeAdmission(db: Db): Promise<void> {
  await rollBackWrites(db, writesAt(await readClock(db)));
}

/** More than PostgreSQL stores inside a row, so that the probe also needs room in the table of long values. */
const variableBytes = 2_048;

function writesAt(nowMs: number): AdmissionWrites {
  const caller = uuid7(nowMs);
  const terms = probedTerms(nowMs);
  const { agentId, agentName } = terms;
  const executionId = uuid7(nowMs);
  const counts = { minute: 0, minuteUsed: 1, hour: 0, hourUsed: 1, day: 0, dayUsed: 1 };
  return {
    counts: new Map([[caller, counts]]),
    ...{ months: [], quotaReports: [], events: [] },
    executedAtMs: nowMs,
    worker: null,
    executions: [
      {
        ...{ id: executionId, terms, ipAddress: null, userAgent: null, step: null },
        ...{ labels: null, rerunOf: null, files: null, fileData: null, warnings: null },
        ...{ settingsApplied: null, callBoundUsd: null },
        inputVariables: JSON.stringify({ probe: randomHex(variableBytes) }),
        queued: { tag: clockTag(nowMs), claimed: false, hasSlot: null },
      },
    ],
    refused: [],
    firstCalls: [
      {
        ...{ caller, target: agentId, targetName: agentName, result: executionId, key: 'probe' },
        ...{ digest: Buffer.alloc(32), ignored: [], createdAtMs: nowMs },
      },
    ],
    refusals: [],
    countedRefusals: [],
    tallies: [],
  };
}

const version = { model: null, temperature: null, maxTokens: null, topP: null, settings: {} };

function probedTerms(nowMs: number): AcceptedTerms {
  return {
    workspaceId: uuid7(nowMs),
    agentId: uuid7(nowMs),
    agentName: 'probe',
    promptVersionId: uuid7(nowMs),
    promptVersionLabel: 'probe',
    apiKeyId: null,
    executedBy: null,
    source: 'api',
    model: 'cueline/echo',
    temperature: null,
    settings: executionSettings({}, version, {}, { storeBodies: true, executesTools: false }),
  };
}
