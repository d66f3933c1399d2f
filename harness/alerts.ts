import type { Tally } from '../src/core/history/statistics.ts';
import { fromId } from '../src/core/id.ts';
import { sql } from '../src/db/sql.ts';
import { readEvaluatedMinute } from '../src/features/events/statements/alerts.ts';
import { evaluateAlerts } from '../src/features/events/verbs/evaluate-alerts.ts';
import type { Service } from './service.ts';
import { insertStatistics, tally } from './statistics.ts';

/** An alert of a test, created through the API. */
export interface TestAlert {
  readonly alertId: string;
  readonly path: string;
  /** Evaluates it with the calls so far; returns it as the API shows it. */
  // biome-ignore lint/suspicious/noExplicitAny: checked against the contract
  evaluated(): Promise<any>;
}

export const alertSettings = {
  name: 'Failures',
  metric: 'failureRate',
  threshold: 0.5,
  clearThreshold: 0.2,
  windowMinutes: 60,
  minCount: 1,
  noData: 'keep',
};

export async function addAlert(
  service: Pick<Service, 'call' | 'db'>,
  key: string,
  settings: object = {},
): Promise<TestAlert> {
  const body = { ...alertSettings, ...settings };
  const created = await service.call('POST', '/api/v1/alerts', { key, body });
  if (created.status !== 201) throw new Error(created.body.message);
  const { alertId } = created.body;
  const path = `/api/v1/alerts/${alertId}`;
  return {
    ...{ alertId, path },
    async evaluated() {
      await makeDue(service, alertId);
      for (;;) {
        await evaluateAlerts({
          db: service.db,
          onError(error) {
            throw error;
          },
        });
        // The service may evaluate it at the same time.
        const { body: alert } = await service.call('GET', path, { key });
        if (alert.evaluatedAt !== null) return alert;
      }
    },
  };
}

/** As if its last minute had just ended. */
export async function makeDue({ db }: Pick<Service, 'db'>, alertId: string): Promise<void> {
  await sql`update alerts set evaluated_to = null where id = ${fromId('alert', alertId)}`.execute(
    db,
  );
}

/** Adds calls, by default successes, some minutes before the last evaluated one. */
export async function addCalls(
  { db }: Pick<Service, 'db'>,
  agentId: string,
  calls: number,
  { minutesAgo = 5, ...call }: Partial<Tally> & { readonly minutesAgo?: number } = {},
): Promise<void> {
  const executedAtMs = (await readEvaluatedMinute(db)) - minutesAgo * 60_000;
  const one = tally({ agentId, executedAtMs, ...call });
  await insertStatistics(
    db,
    Array.from({ length: calls }, () => one),
  );
}

/** Forgets all calls, as if they had left every window. */
export async function removeCalls({ db }: Pick<Service, 'db'>): Promise<void> {
  await sql`truncate statistics, breakdown, label_changes, label_counts`.execute(db);
}
