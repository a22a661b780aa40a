// Loaded only where something is exported to a collector.
import * as resources from '@opentelemetry/resources'

export interface Named {
  /** Unless `OTEL_SERVICE_NAME` says otherwise. */
  serviceName: string
  version: string
}

/** Who this process is to a collector, with what the standard variables say about it. */
export function resourceOf({ serviceName, version }: Named): resources.Resource {
  const own = { 'service.name': serviceName, 'service.version': version }
  const { envDetector, serviceInstanceIdDetector } = resources
  const said = resources.detectResources({ detectors: [serviceInstanceIdDetector, envDetector] })
  return resources.defaultResource().merge(resources.resourceFromAttributes(own)).merge(said)
}
