import type { Attributes } from '@opentelemetry/api';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { toId } from '../core/id.ts';
import {
  type ModelCall,
  ModelDeferred,
  ModelFailure,
  type ModelPort,
  noUsage,
  splitModelName,
  type Usage,
} from '../core/model/model-port.ts';
import { outcomeOf } from './with-metrics.ts';

export interface TraceOptions {
  /** As in `OTEL_EXPORTER_OTLP_ENDPOINT`: `/v1/traces` is added to it. */
  readonly endpoint: string;
  /** `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` win over these. */
  readonly serviceName: string;
  readonly serviceVersion: string;
  /** Told when spans could not be delivered; they are lost, and nothing else is. */
  readonly onError: (error: unknown) => void;
}

/** For one delivery with its retries, and so for the last one at the end of the process. */
const deliveryMsMax = 5_000;

/**
 * The same models, with a span for each call after OpenTelemetry's conventions for generative AI, sent as OTLP over
 * HTTP. Neither prompts nor answers nor the texts of errors are ever in it. The SDK is loaded here and nowhere else, and
 * registers nothing globally; it reads the other `OTEL_EXPORTER_OTLP_…` variables (headers, certificates) itself.
 */
export async function withTracing(
  models: ModelPort,
  options: TraceOptions,
): Promise<ModelPort & { shutdown(): Promise<void> }> {
  const { BatchSpanProcessor, TracerProvider } = await import('@opentelemetry/sdk-trace');
  const { SpanKind, SpanStatusCode } = await import('@opentelemetry/api');
  const exporter = await telling(options);
  const provider = new TracerProvider({
    resource: await resource(options),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('cueline', options.serviceVersion);

  return {
    async call(call) {
      const span = tracer.startSpan(`chat ${splitModelName(call.model).model}`, {
        kind: SpanKind.CLIENT,
        attributes: asked(call),
      });
      try {
        const answer = await models.call(call);
        span.setAttributes(used(answer.usage));
        span.setAttribute('gen_ai.response.finish_reasons', [answer.finishReason]);
        span.end();
        return answer;
      } catch (error) {
        // No call was made: a span that is never ended is never told of.
        if (error instanceof ModelDeferred) throw error;
        if (error instanceof ModelFailure && error.usage !== noUsage) {
          span.setAttributes(used(error.usage));
        }
        span.setAttribute('error.type', outcomeOf(error, call.signal));
        // Without a message: a provider's error may quote the prompt.
        span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
        throw error;
      }
    },
    // What could not be delivered has been told already.
    shutdown: () => provider.shutdown().catch(() => {}),
  };
}

/** The SDK itself is silent about what it could not deliver. */
async function telling({ endpoint, onError }: TraceOptions): Promise<SpanExporter> {
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: deliveryMsMax });
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error) onError(result.error);
        done(result);
      }),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}

async function resource({ serviceName, serviceVersion }: TraceOptions) {
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = await import(
    '@opentelemetry/resources'
  );
  return defaultResource()
    .merge(
      resourceFromAttributes({ 'service.name': serviceName, 'service.version': serviceVersion }),
    )
    .merge(detectResources({ detectors: [envDetector] }));
}

function asked({ model: name, executionId, temperature, maxTokens, topP }: ModelCall): Attributes {
  const { provider, model } = splitModelName(name);
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': conventionalNames.get(provider) ?? provider,
    'gen_ai.request.model': model,
    ...(temperature !== null && { 'gen_ai.request.temperature': temperature }),
    ...(maxTokens !== null && { 'gen_ai.request.max_tokens': maxTokens }),
    ...(topP !== null && { 'gen_ai.request.top_p': topP }),
    'cueline.execution.id': toId('execution', executionId),
  };
}

/** As the conventions spell the providers that they know; the others keep their names. */
const conventionalNames: ReadonlyMap<string, string> = new Map([
  ['google', 'gcp.gemini'],
  ['azure', 'azure.ai.openai'],
  ['bedrock', 'aws.bedrock'],
  ['mistral', 'mistral_ai'],
  ['xai', 'x_ai'],
]);

function used({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): Attributes {
  return {
    'gen_ai.usage.input_tokens': inputTokens,
    'gen_ai.usage.output_tokens': outputTokens,
    ...(cacheReadTokens > 0 && { 'gen_ai.usage.cache_read.input_tokens': cacheReadTokens }),
    ...(cacheWriteTokens > 0 && { 'gen_ai.usage.cache_creation.input_tokens': cacheWriteTokens }),
  };
}
