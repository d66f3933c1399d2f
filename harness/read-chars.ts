import type { Pipelines, Send } from '../src/store/connection/pipeline.ts';

/** Pipelines that tell how many characters their statements were answered with. */
export function countRead(pipelines: Pipelines): Pipelines & { readonly chars: () => number } {
  let chars = 0;
  return {
    ...pipelines,
    chars: () => chars,
    use: (work, responseTimeoutMs) =>
      pipelines.use((send) => {
        const counting: Send = async <Row>(...given: Parameters<Send>) => {
          const rows = await send<Row>(...given);
          chars += JSON.stringify(rows).length;
          return rows;
        };
        return work(counting);
      }, responseTimeoutMs),
  };
}
