import { newId } from '#lib/id.ts'

/**
 * A key that no other bytes ever had or will have: it names the tenant, what the bytes are, and one attempt
 * to keep them. So nobody can read, meet or remove what another tenant or another attempt keeps, and who
 * looks into the store can check every object against its own name.
 */
export function newObjectKey(tenantId: string, sha256: string): string {
  return `${tenantId}/${sha256.slice(0, 2)}/${sha256}-${newId()}`
}
