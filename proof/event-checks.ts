import { setTimeout as wait } from 'node:timers/promises';
import { toId } from '../src/core/id.ts';
import type { Db } from '../src/db/database.ts';
import { sql } from '../src/db/sql.ts';
import { ask } from './access/ask.ts';
import type { Arrival, Behaviour, EventReceivers } from './event-receivers.ts';
import { until } from './until.ts';

/** Endpoints that subscribe to the ends of executions, and the comparison of what they received with the records. */

/** One endpoint for each behaviour, described by its name. */
export async function addEndpoints(
  url: string,
  key: string,
  receivers: EventReceivers,
  behaviours: readonly Behaviour[],
): Promise<void> {
  const eventTypes = [
    'execution.succeeded',
    'execution.failed',
    'execution.canceled',
    'execution.refused',
  ];
  for (const behaviour of behaviours) {
    const body = { url: receivers.url(behaviour), eventTypes, description: behaviour };
    const headers = { authorization: `Bearer ${key}` };
    const { status, text } = await ask(`${url}/api/v1/endpoints`, 'POST', headers, body);
    if (status !== 201) throw new Error(`no endpoint: ${text}`);
    receivers.setSecret(behaviour, JSON.parse(text).secret);
  }
}

/** Waits until all events are delivered to these endpoints, however many. False if none was for a generous time. */
export async function allDelivered(db: Db, behaviours: readonly Behaviour[]): Promise<boolean> {
  let open = await countOpen(db, behaviours);
  while (open > 0) {
    const before = open;
    const progressed = await until(async () => {
      await wait(100);
      open = await countOpen(db, behaviours);
      return open < before;
    });
    if (!progressed) return false;
  }
  return true;
}

async function countOpen(db: Db, behaviours: readonly Behaviour[]): Promise<number> {
  const { rows } = await sql<{ open: number }>`
    select count(*)::int as open from deliveries d join endpoints p on p.id = d.endpoint_id
    where p.description = any (${behaviours}::text[]) and d.state <> 'delivered'`.execute(db);
  return rows[0]?.open ?? 0;
}

/**
 * Each record has one event, and each event reached these endpoints. What arrived is signed and stored, tells the end of the record,
 * and has one body for each id.
 */
export async function checkEvents(
  db: Db,
  arrivals: readonly Arrival[],
  behaviours: readonly Behaviour[],
): Promise<string[]> {
  const violations = await checkRecords(db);
  const { rows } = await sql<{ id: string; subject: string; type: string; status: string }>`
    select e.id, e.subject, e.type, x.status::text as status
    from events e left join executions x on x.id = e.subject`.execute(db);
  const stored = new Map(rows.map((row) => [toId('event', row.id), row]));
  const bodies = new Map<string, string>();
  const answered = new Set<string>();
  for (const { behaviour, id, body, signed, status } of arrivals) {
    const event = JSON.parse(body);
    const row = stored.get(id);
    if (!signed) violations.push(`${id} is not signed for ${behaviour}`);
    if (!row || row.type !== event.type) violations.push(`${id} is no stored event: ${body}`);
    else if (toId('execution', row.subject) !== event.data.executionId) {
      violations.push(`${id} names another execution: ${body}`);
    } else if (row.status !== event.data.status) {
      violations.push(`${id} reports an end that did not happen: ${body}`);
    }
    const before = bodies.get(id) ?? body;
    if (before !== body) violations.push(`${id} has two bodies: ${before} and ${body}`);
    bodies.set(id, before);
    if (status === 200) answered.add(`${behaviour} ${id}`);
  }
  for (const id of stored.keys()) {
    for (const behaviour of behaviours) {
      if (!answered.has(`${behaviour} ${id}`)) violations.push(`${id} never reached ${behaviour}`);
    }
  }
  return violations;
}

async function checkRecords(db: Db): Promise<string[]> {
  const { rows } = await sql<{ id: string; events: number }>`
    select coalesce(x.id, e.subject) as id, count(e.id)::int as events
    from executions x full join events e on e.subject = x.id
    group by 1 having count(e.id) <> 1 or count(x.id) = 0`.execute(db);
  return rows.map(({ id, events }) => `execution ${id} has ${events} events`);
}
