import type { Pipelines, Send } from '../src/db/pipeline.ts';

/** Pipelines that count the characters in the responses to their statements. */
export function countReadChars(pipelines: Pipelines): Pipelines & { readonly chars: () => number } {
  let chars = 0;
  return {
    ...pipelines,
    chars: () => chars,
    use: (work, responseTimeoutMs) =>
      pipelines.use((send) => {
        const counting = (async (...args: Parameters<Send>) => {
          const rows = await send(...args);
          chars += JSON.stringify(rows).length;
          return rows;
        }) as Send;
        return work(counting);
      }, responseTimeoutMs),
  };
}
