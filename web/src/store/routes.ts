import type { Component } from 'vue'
import type { RouteMeta, RouteRecordRaw } from 'vue-router'
import type en from '@/texts/en/shopFrame'
import { NEEDS, type PageName } from './places'
import { t } from './texts'

/** The pages of a store, below /store. Those that headquarters has too are called alike, for the parts that both share. */

type Title = keyof typeof en

const titled = (title: Title, more: RouteMeta = {}): RouteMeta => ({
  ...more,
  get title() {
    return t(title)
  },
})

function page(path: string, name: PageName, title: Title, component: () => Promise<Component>): RouteRecordRaw {
  const meta = titled(title, { permissions: NEEDS[name].permissions })
  return { path, name, component, props: true, meta }
}

const pages: RouteRecordRaw[] = [
  page('', 'today', 'today', () => import('./today/TodayPage.vue')),
  page('sales', 'sales', 'sales', () => import('./sales/ListPage.vue')),
  page('sales/:id', 'sale', 'receipt', () => import('./sales/SalePage.vue')),
  page('drawers', 'drawers', 'drawers', () => import('./drawers/ListPage.vue')),
  page('drawers/:id', 'drawer', 'drawer', () => import('./drawers/DrawerPage.vue')),
  page('registers/:id/x', 'x', 'xReport', () => import('./drawers/XPage.vue')),
  page('z-reports', 'z-reports', 'zReports', () => import('./drawers/ZListPage.vue')),
  page('z-reports/:id', 'z-report', 'zReport', () => import('./drawers/ZPage.vue')),
  page('zz-reports', 'zz-reports', 'zzReports', () => import('./drawers/ZzListPage.vue')),
  page('zz-reports/:id', 'zz-report', 'zzReport', () => import('./drawers/ZzPage.vue')),
  page('safe', 'safe', 'safe', () => import('./drawers/SafePage.vue')),
  page('stock', 'stock', 'stock', () => import('./stock/ListPage.vue')),
  page('stock/changes', 'stock-changes', 'stockChanges', () => import('./stock/ChangesPage.vue')),
  page('stock/:id', 'stock-product', 'stockOfProduct', () => import('./stock/ProductPage.vue')),
  page('customers', 'customers', 'customers', () => import('./customers/ListPage.vue')),
  page('customers/:id', 'customer', 'customer', () => import('./customers/CustomerPage.vue')),
  page('registers', 'registers', 'registers', () => import('./devices/RegistersPage.vue')),
  page('devices', 'devices', 'devices', () => import('./devices/DevicesPage.vue')),
  page('printers', 'printers', 'printers', () => import('./devices/PrintersPage.vue')),
  page('audit', 'audit', 'audit', () => import('./line/AuditPage.vue')),
  page('line', 'line', 'line', () => import('./line/LinePage.vue')),
  {
    path: 'account',
    name: 'account',
    component: () => import('./account/AccountPage.vue'),
    meta: titled('account'),
  },
  {
    path: ':lost(.*)*',
    name: 'lost',
    component: () => import('@/pages/NotFoundPage.vue'),
    meta: titled('lost'),
  },
]

export const routes: RouteRecordRaw[] = [
  {
    path: '/login',
    name: 'login',
    component: () => import('./account/LoginPage.vue'),
    meta: titled('signIn'),
  },
  {
    path: '/change-pin',
    name: 'change-pin',
    component: () => import('@/pages/ChangePinPage.vue'),
    meta: titled('changePin', { requiresAuth: true }),
  },
  {
    path: '/unauthorized',
    name: 'unauthorized',
    component: () => import('./account/UnauthorizedPage.vue'),
    meta: titled('mayNotOpen'),
  },
  {
    path: '/',
    component: () => import('./ShopShell.vue'),
    meta: { requiresAuth: true },
    children: pages,
  },
]
