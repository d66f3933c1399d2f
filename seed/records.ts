import type pg from 'pg';

/** Writes the generated rows as ended executions. Returns their number. */
export async function writeRecords(client: pg.Client): Promise<number> {
  const { rowCount } = await client.query(write);
  return rowCount ?? 0;
}

const written = (text: string, reference: string) =>
  `${text} || case when ${reference} is null then ''
    else ' See ' || chr(65 + ${reference} / 9000000) || (1000000 + ${reference} % 9000000) || '.' end`;

const moment = (ms: string) => `to_timestamp((${ms}) / 1000.0::float8)`;

/** In generation order, which the joins preserve. */
const write = `
  with written as (
  insert into executions (id, workspace_id, agent_id, prompt_version_id, api_key_id, executed_by, executed_at,
    started_at, completed_at, temperature, cost_usd, input_tokens, output_tokens, latency_ms, attempts, status, source,
    cost_known, agent_name, prompt_version_label, model, finish_reason, error_code, error, ip_address, user_agent,
    input_variables, system_prompt, user_prompt, output)
  select r.id, workspace_id, g.id, v.id, key_id, user_id, ${moment('ms')},
    ${moment('started_ms')}, ${moment('coalesce(started_ms + r.latency_ms, ms)')}, 0.2, cost * 0.0000000001,
    input_tokens, output_tokens, coalesce(r.latency_ms, 0), case when started_ms is null then 0 else attempts end,
    status, source, cost_known, g.name, v.label, m.name,
    case when status = 'success' then 'stop' end, error_code, error,
    case when key_id is not null then '203.0.113.' || 1 + floor(random() * 254)::int end, user_agent,
    ('{"customer":"' || customer_name || '","question":"' || question_text || '"}')::json,
    case when keeps_prompts then system end,
    case when keeps_prompts then before_customer || customer_name || before_question || question_text || after_question end,
    answer_text
  from (
    select r.*, 'customer-' || lpad(customer::text, 4, '0') as customer_name,
      ${written('q.text', 'question_reference')} as question_text, ${written('a.text', 'answer_reference')} as answer_text
    from seed_rows r
    left join seed_snippets q on q.position = question
    left join seed_snippets a on a.position = answer
    -- An optimization fence: concatenates the repeated texts once.
    offset 0
  ) as r
  join seed_agents g on g.position = agent
  join seed_versions v on v.position = version
  join seed_origins w on w.position = origin
  join seed_outcomes o on o.position = outcome
  join seed_models m on m.position = model
  returning id)
  insert into search_changes (id) select id from written`;
