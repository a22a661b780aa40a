import { foreign, look, own } from './tenant-call.ts'
import type { Case } from './tenant-call.ts'

/** What another tenant tries on prices and on what runs used. */
export const ACCOUNTING_CASES: Readonly<Record<string, Case>> = {
  createPriceTable: () => [own({ body: { currency: 'EUR', entries: [] } })],
  listPriceTables: () => [look()],
  getPriceTable: () => [look({ params: { version: '1' } })],
  reportUsage: (a) => [
    foreign({
      params: { id: a.run },
      body: { fencingToken: 1, sequence: 7, lines: [{ model: 'taken' }] },
    }),
  ],
  reportLateUsage: (a) => [
    foreign({ params: { id: a.run }, body: { sequence: 8, lines: [{ model: 'taken' }] } }),
  ],
  listUsageReports: (a) => [foreign({ params: { id: a.run } })],
  getRunUsage: (a) => [foreign({ params: { id: a.run } })],
  getPrincipalBudget: (a) => [foreign({ params: { id: a.principal } })],
  updatePrincipalBudget: (a) => [
    foreign({ params: { id: a.principal }, ifMatch: 1, body: { maxMonthTokens: 1 } }),
  ],
  getProjectBudget: (a) => [foreign({ params: { id: a.project } })],
  getUsage: (a) => [
    look({ query: { groupBy: 'model' } }),
    own({ query: { principalId: a.person } }),
    foreign({ query: { workspaceId: a.workspace } }),
    foreign({ query: { projectId: a.project, groupBy: 'project' } }),
  ],
}
