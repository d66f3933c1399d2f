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
import { noProxies, type ProxySettings, proxyEnv, usesProxy } from '../core/proxy-settings.ts';
import { outcomeOf } from './with-metrics.ts';

export interface TraceOptions {
  /** As `OTEL_EXPORTER_OTLP_ENDPOINT`: `/v1/traces` is appended. */
  readonly endpoint: string;
  /** `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` override these. */
  readonly serviceName: string;
  readonly serviceVersion: string;
  /** None by default. */
  readonly proxies?: ProxySettings;
  /** Called when spans could not be delivered; only those spans are lost. */
  readonly onError: (error: unknown) => void;
}

/** For one delivery with its retries, including the last one at shutdown. */
const deliveryMsMax = 5_000;

/**
 * The same models with a span per call, following OpenTelemetry's conventions for generative AI, sent as OTLP over
 * HTTP. Spans never contain prompts, responses or error texts. The SDK is loaded only here and registers nothing
 * globally; it reads the other `OTEL_EXPORTER_OTLP_…` variables (headers, certificates) itself.
 */
export async function withTracing(
  models: ModelPort,
  options: TraceOptions,
): Promise<ModelPort & { shutdown(): Promise<void> }> {
  const { BatchSpanProcessor, TracerProvider } = await import('@opentelemetry/sdk-trace');
  const { SpanKind, SpanStatusCode } = await import('@opentelemetry/api');
  const exporter = await reportingExporter(options);
  const provider = new TracerProvider({
    resource: await resource(options),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('cueline', options.serviceVersion);

  return {
    async call(call, emit) {
      const span = tracer.startSpan(`chat ${splitModelName(call.model).model}`, {
        kind: SpanKind.CLIENT,
        attributes: requestAttributes(call),
      });
      try {
        await models.call(call, (event) => {
          if (event.type === 'usage') span.setAttributes(used(event.usage));
          if (event.type === 'finish') {
            span.setAttribute('gen_ai.response.finish_reasons', [event.finishReason]);
          }
          emit(event);
        });
        span.end();
      } catch (error) {
        // No call was made: a span that is never ended is never exported.
        if (!(error instanceof ModelDeferred)) fail(error);
        throw error;
      }

      function fail(error: unknown): void {
        if (error instanceof ModelFailure && error.usage !== noUsage) {
          span.setAttributes(used(error.usage));
        }
        span.setAttribute('error.type', outcomeOf(error, call.signal));
        // Without a message: a provider's error may quote the prompt.
        span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      }
    },
    // Failed deliveries have been reported already.
    shutdown: () => provider.shutdown().catch(() => {}),
  };
}

/** The SDK itself does not report failed deliveries. */
async function reportingExporter(options: TraceOptions): Promise<SpanExporter> {
  const { endpoint, onError, proxies = noProxies } = options;
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const exporter = new OTLPTraceExporter({
    url,
    timeoutMillis: deliveryMsMax,
    // Replaces the agent with the exporter's certificate variables; NODE_EXTRA_CA_CERTS still applies.
    ...(usesProxy(proxies) && {
      httpAgentOptions: { keepAlive: true, proxyEnv: proxyEnv(proxies) },
    }),
  });
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

function requestAttributes({
  model: name,
  executionId,
  temperature,
  maxTokens,
  topP,
}: ModelCall): Attributes {
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

/** Provider names as the conventions spell them; others keep their names. */
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
