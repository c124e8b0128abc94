import 'vue-router'

declare module 'vue-router' {
  interface RouteMeta {
    /** Only for people who are signed in. */
    requiresAuth?: boolean
    /** One of these codes (or patterns `module.*`) is needed. */
    permissions?: readonly string[]
    /** Title of the page and its entry in the menu. */
    title?: string
  }
}
