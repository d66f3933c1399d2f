// LangChain's ChatOpenAI, over chat completions and over responses: base URL, key.
import { HumanMessage, SystemMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';

const [baseURL, apiKey] = process.argv.slice(2);
const out = [];
for (const useResponsesApi of [false, true]) {
  const model = new ChatOpenAI({
    ...{ model: 'tools', apiKey, useResponsesApi, configuration: { baseURL } },
  });
  const invoked = await model.invoke([new SystemMessage('Be brief.'), new HumanMessage('Invoke')]);
  let streamed = '';
  for await (const { text } of await model.stream('Stream')) streamed += text;
  const find = tool(async () => 'found', { name: 'find', schema: z.object({ q: z.string() }) });
  const called = await model.bindTools([find]).invoke('Call');
  const { name, args } = called.tool_calls[0];
  const schema = z.object({ mood: z.string() });
  const parsed = await model.withStructuredOutput(schema, { method: 'jsonSchema' }).invoke('JSON');
  // LangChain ignores `x-should-retry`.
  const once = new ChatOpenAI({
    ...{ model: 'tools', apiKey, useResponsesApi, configuration: { baseURL }, maxRetries: 0 },
  });
  await once.invoke('Fail').catch(() => {});
  out.push({ text: invoked.text, streamed, called: { name, args }, parsed });
}
console.log(JSON.stringify(out));
