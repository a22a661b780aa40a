import { z } from 'zod'
import { flag, httpUrl } from './config-kinds.ts'

/** The standard variables of OpenTelemetry that this program heeds; the exporter heeds a few more by itself. */
export const OTEL_VARIABLES = {
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl
    .optional()
    .describe('Base address of an OTLP/HTTP collector of traces and metrics; unset: none are sent'),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl
    .optional()
    .describe('Its whole address for traces, where /v1/traces is not below the base'),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: httpUrl
    .optional()
    .describe('Its whole address for metrics, where /v1/metrics is not below the base'),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .enum(['http/json', 'http/protobuf'])
    .optional()
    .describe('JSON is sent in either case, which a collector takes at the same address; no gRPC'),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .optional()
    .describe('Headers for the collector, such as a credential: name=value,name=value'),
  OTEL_SERVICE_NAME: z.string().optional().describe('Name of this process (strata-<role>)'),
  OTEL_RESOURCE_ATTRIBUTES: z
    .string()
    .optional()
    .describe('Further attributes of this process: name=value,name=value'),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none']).default('otlp').describe('none: no traces'),
  OTEL_METRICS_EXPORTER: z
    .enum(['otlp', 'none'])
    .default('otlp')
    .describe('none: metrics are at /metrics alone'),
  OTEL_METRIC_EXPORT_INTERVAL: z.coerce
    .number()
    .int()
    .min(100)
    .max(3_600_000)
    .default(60_000)
    .describe('How often metrics are sent, in milliseconds'),
  OTEL_TRACES_SAMPLER: z
    .enum([
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ])
    .default('parentbased_always_on')
    .describe('Which traces are kept; parentbased: as the caller decided, if it did'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('Share that traceidratio keeps'),
  OTEL_BSP_SCHEDULE_DELAY: z.coerce
    .number()
    .int()
    .min(10)
    .max(600_000)
    .default(5000)
    .describe('Longest wait until spans are sent, in milliseconds'),
  OTEL_SDK_DISABLED: flag(false).describe(
    'true: no traces and no metrics are sent, whatever else is set',
  ),
} as const satisfies Record<string, z.ZodType>
