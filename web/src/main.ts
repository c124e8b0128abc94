import '@fontsource-variable/inter/wght.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/parts.css'
import './composables/useTheme'
import { VueQueryPlugin } from '@tanstack/vue-query'
import { createPinia } from 'pinia'
import { createApp } from 'vue'
import App from './App.vue'
import { queryClient } from './api/queries'
import { makeRouter } from './router'
import { useSession } from './session/store'

const app = createApp(App)
app.use(createPinia())
app.use(VueQueryPlugin, { queryClient })
const router = makeRouter()

// Before the first page is chosen, since the guard asks who is signed in.
void useSession()
  .restore()
  .then(() => app.use(router).mount('#app'))
