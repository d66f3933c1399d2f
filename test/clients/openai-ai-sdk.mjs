// The AI SDK, over responses and over chat completions: base URL, key.
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, isStepCount, Output, streamText, tool } from 'ai';
import { z } from 'zod';

const [baseURL, apiKey] = process.argv.slice(2);
const providers = [
  createOpenAI({ baseURL, apiKey }),
  createOpenAICompatible({
    ...{ name: 'cueline', baseURL, apiKey, includeUsage: true, supportsStructuredOutputs: true },
  }),
];
const out = [];
for (const provider of providers) {
  const model = provider('tools');
  const generated = await generateText({ model, system: 'Be brief.', prompt: 'Generate' });
  const stream = streamText({ model, prompt: 'Stream' });
  const streamed = await stream.text;
  const { totalTokens } = await stream.totalUsage;
  const weather = tool({
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => `Sunny in ${city}`,
  });
  const { text: called } = await generateText({
    ...{ model, prompt: 'Weather in Rome?', tools: { weather }, stopWhen: isStepCount(3) },
  });
  const { output: parsed } = await generateText({
    ...{ model, prompt: 'JSON', output: Output.object({ schema: z.object({ mood: z.string() }) }) },
  });
  // The AI SDK ignores `x-should-retry`.
  const failed = await generateText({ model, prompt: 'Fail', maxRetries: 0 }).catch(
    (error) => error.message,
  );
  out.push({ text: generated.text, streamed, totalTokens, called, parsed, failed });
}
console.log(JSON.stringify(out));
