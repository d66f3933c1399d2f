// The package `openai`: base URL, key.
import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';

const [baseURL, apiKey] = process.argv.slice(2);
const openai = new OpenAI({ baseURL, apiKey });
const model = 'many';
const out = { models: [] };
for await (const { id } of openai.models.list()) out.models.push(id);

const first = await openai.responses.create({ model, input: 'One', metadata: { a: 'b' } });
out.text = first.output_text;
out.read = (await openai.responses.retrieve(first.id)).output_text;
const items = await openai.responses.inputItems.list(first.id);
out.items = items.data.map(({ content }) => content[0].text);

const events = openai.responses.stream({ model, input: 'Streamed' });
out.deltas = [];
events.on('response.output_text.delta', ({ delta }) => out.deltas.push(delta));
const final = await events.finalResponse();
out.streamed = final.output_text;
const again = await openai.responses.retrieve(final.id, { stream: true, starting_after: 3 + 4 });
out.continued = '';
for await (const event of again) {
  if (event.type === 'response.output_text.delta') out.continued += event.delta;
}

const background = await openai.responses.create({ model: 'slow', input: 'x', background: true });
out.background = background.status;
out.canceled = (await openai.responses.cancel(background.id)).status;
await openai.responses.delete(background.id);

const format = zodTextFormat(z.object({ mood: z.string() }), 'mood');
out.parsed = (
  await openai.responses.parse({ model, input: 'JSON', text: { format } })
).output_parsed;

const chat = await openai.chat.completions.create({
  ...{ model, messages: [{ role: 'user', content: 'Chat' }] },
});
out.chat = chat.choices[0].message.content;
const chunks = openai.chat.completions.stream({
  ...{ model, messages: [{ role: 'user', content: 'Chunks' }] },
  stream_options: { include_usage: true },
});
out.chunks = await chunks.finalContent();
out.usage = (await chunks.totalUsage()).total_tokens;

const errorOf = async (work) => {
  try {
    return await work;
  } catch (error) {
    return {
      name: error.constructor.name,
      status: error.status,
      code: error.code,
      param: error.param,
    };
  }
};
out.errors = [
  await errorOf(
    new OpenAI({ baseURL, apiKey: 'cue_wrong' }).responses.create({ model, input: 'x' }),
  ),
  await errorOf(openai.responses.create({ model: 'nothing', input: 'x' })),
  await errorOf(openai.responses.create({ model, input: 'x', previous_response_id: 'resp_1' })),
  await errorOf(
    openai.chat.completions.create({ model, messages: [{ role: 'user', content: 'Fail' }] }),
  ),
];
console.log(JSON.stringify(out));
