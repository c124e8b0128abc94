import type { RouteLocationRaw, Router } from 'vue-router'
import { mayOpen, type Visitor } from './guards'

/** Where a row of a type is shown. */
const PLACES: Readonly<Record<string, (id: string) => RouteLocationRaw & { name: string }>> = {
  customers: (id) => ({ name: 'customers', query: { open: id } }),
  departments: (id) => ({ name: 'departments', query: { open: id } }),
  product_specials: (id) => ({ name: 'special', params: { id } }),
  products: (id) => ({ name: 'product', params: { id } }),
  register_sessions: (id) => ({ name: 'drawer', params: { id } }),
  reasons: (id) => ({ name: 'reasons', query: { open: id } }),
  roles: (id) => ({ name: 'role', params: { id } }),
  sales: (id) => ({ name: 'sale', params: { id } }),
  sales_reps: (id) => ({ name: 'sales-reps', query: { open: id } }),
  stores: (id) => ({ name: 'store', params: { id } }),
  tenders: (id) => ({ name: 'tenders', query: { open: id } }),
  users: (id) => ({ name: 'user', params: { id } }),
}

/** The page that shows a row, for who may open it. */
export function placeOf(router: Router, visitor: Visitor, type: string, id: string): RouteLocationRaw | null {
  const place = Object.hasOwn(PLACES, type) ? PLACES[type]!(id) : null
  return place && router.hasRoute(place.name) && mayOpen(router.resolve(place), visitor) ? place : null
}
