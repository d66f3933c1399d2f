import { sample } from 'openapi-sampler';
import { openapi } from '../src/faces/reference/openapi.ts';
import type { Json } from '../src/faces/reference/openapi-components.ts';

interface Media {
  readonly schema?: Json;
  readonly examples?: Json;
  example?: unknown;
}

interface SampledOperation {
  readonly requestBody?: { readonly content?: Readonly<Record<string, Media>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, Media>> }>
  >;
}

/**
 * The OpenAPI document as it is published: JSON without a written example has one that is sampled from its schema. That of a
 * request has what is required.
 */
export function sampledOpenapi(version: string): Json {
  const document = openapi(version);
  const paths = document.paths as Record<string, Record<string, SampledOperation>>;
  for (const { requestBody, responses } of Object.values(paths).flatMap((item) =>
    Object.values(item),
  )) {
    addSample(requestBody?.content, { skipReadOnly: true, skipNonRequired: true });
    for (const [status, { content }] of Object.entries(responses)) {
      if (Number(status) < 300) addSample(content, { skipWriteOnly: true });
    }
  }
  return document;

  function addSample(
    content: Readonly<Record<string, Media>> | undefined,
    options: Parameters<typeof sample>[1],
  ): void {
    const media = content?.['application/json'];
    if (!media?.schema || media.examples) return;
    // As JSON: a schema without a type has no sample.
    const text = JSON.stringify(sample(media.schema, { ...options, quiet: true }, document));
    if (text !== '{}') media.example = JSON.parse(text);
  }
}
