// The OpenAI Agents SDK with a tool, over responses and over chat completions: base URL, key.
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
import { z } from 'zod';

const [baseURL, apiKey] = process.argv.slice(2);
const outputs = [];
for (const useResponses of [true, false]) {
  const modelProvider = new OpenAIProvider({ baseURL, apiKey, useResponses });
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  const weather = tool({
    name: 'weather',
    description: 'The weather in a city.',
    parameters: z.object({ city: z.string() }),
    execute: async ({ city }) => `Sunny in ${city}`,
  });
  const agent = new Agent({
    name: 'A',
    model: 'tools',
    instructions: 'Be brief.',
    tools: [weather],
  });
  outputs.push((await runner.run(agent, 'Weather in Rome?')).finalOutput);
  const streamed = await runner.run(agent, 'Weather in Oslo?', { stream: true });
  await streamed.completed;
  outputs.push(streamed.finalOutput);
}
console.log(JSON.stringify(outputs));
